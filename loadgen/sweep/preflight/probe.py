"""Prints what a Python environment has: versions of packages, kvcached's hook, and variables that
vLLM's sources do not name."""
import importlib.metadata, importlib.util, json, pathlib, site, sys

asked = json.loads(sys.argv[1])
versions = {}
for name in asked["packages"]:
    try:
        versions[name] = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        pass
folders = list(site.getsitepackages()) + ([site.getusersitepackages()] if site.ENABLE_USER_SITE else [])
hook = any((pathlib.Path(folder) / "kvcached_autopatch.pth").is_file() for folder in folders)
left = set(asked["variables"])
found = importlib.util.find_spec("vllm") if left else None
sources = pathlib.Path(found.origin).parent if found and found.origin else None
if sources is None:
    left = set()
else:
    for path in [sources / "envs.py", *sources.rglob("*.py")]:
        if not left:
            break
        try:
            text = path.read_text(errors="replace")
        except OSError:
            continue
        left = {name for name in left if name not in text}
print(json.dumps({"versions": versions, "hook": hook, "ignored": sorted(left)}))
