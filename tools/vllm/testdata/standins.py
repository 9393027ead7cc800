"""Puts stand-ins for CUDA libraries beside PyTorch's own, where no GPU is used.

usage: standins.py SITE_PACKAGES

PyPI has PyTorch for x86-64 only as it is built for CUDA, with 3 GB of NVIDIA's
libraries. Those that are not installed get a shared object of that name here,
which defines what PyTorch leaves undefined; its functions fail. nvidia-cuda-runtime
has to be installed: PyTorch calls it as it loads. It takes gcc and readelf.
"""

import glob
import os
import re
import subprocess
import sys
import tempfile


def readelf(*args):
    return subprocess.run(["readelf", "-W", *args], check=True, capture_output=True, text=True).stdout


def main(packages):
    folder = os.path.join(packages, "torch", "lib")
    libraries = [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if ".so" in name]
    named, files, symbols = set(), {}, set()
    for library in libraries:
        named.update(re.findall(r"NEEDED.*\[(lib(?:cu|nv|nccl)[^]]*)\]", readelf("-d", library)))
        for part in readelf("-V", library).split("Version: 1  File: ")[1:]:
            file, *versions = re.findall(r"^\S+|(?<=Name: )\S+", part)
            files.update(dict.fromkeys(versions, file))
        symbols.update(re.findall(r" UND (_*(?:cu|nv|nccl)\w+)(?:@(\S+))?", readelf("--dyn-syms", library)))
    installed = {os.path.basename(file) for file in libraries + glob.glob(os.path.join(packages, "nvidia", "*", "lib", "*"))}
    absent = sorted(named - installed)
    for name in absent:
        # A symbol without a version may come from any of them.
        own = [symbol for symbol, version in symbols if (files.get(version) == name if version else name == absent[0])]
        version = next((version for version, file in files.items() if file == name), None)
        build(os.path.join(folder, name), name, own, version)


def build(path, name, symbols, version):
    with tempfile.TemporaryDirectory() as work:
        source, script = os.path.join(work, "standin.c"), os.path.join(work, "standin.map")
        with open(source, "w") as out:
            out.writelines(f"int {symbol}(void) {{ return 1; }}\n" for symbol in sorted(symbols))
        with open(script, "w") as out:
            out.write(f"{version or ''} {{ global: *; }};\n")
        linking = [f"-Wl,-soname,{name}", f"-Wl,--version-script,{script}"]
        subprocess.run(["gcc", "-w", "-shared", "-fPIC", "-fno-builtin", *linking, "-o", path, source], check=True)


if __name__ == "__main__":
    main(sys.argv[1])
