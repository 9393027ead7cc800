# The files of a release, and tests that install them.
.PHONY: release release-check
release: ## make archives, wheels, Debian packages and images in dist; ONLY=linux/amd64 for one platform
	$(GO) -C tools/release build -o ../../bin/release .
	bin/release -version "$(VERSION)" -commit "$(COMMIT)" -time "$$(git log -1 --format=%ct)" -only "$(ONLY)"

# Needs Linux, Python with venv, and dpkg; without root also user namespaces. Takes
# programs that judge packages from PyPI. If PyPI cannot be reached, the tests skip them.
PACKAGING ?= $(HOME)/.cache/servebench-packaging
release-check: ## install each file of a release for this machine, and use it where nothing else is
	@if python3 -m venv $(PACKAGING) && timeout 300 $(PACKAGING)/bin/pip install --quiet \
		twine==7.0.0 check-wheel-contents==0.6.3 uv==0.13.9 'cyclonedx-python-lib[json-validation]==11.12.0'; \
	then export PACKAGING=$(PACKAGING); else unset PACKAGING; echo "release-check: PyPI cannot be reached, so there is no twine, uv and CycloneDX schema"; fi; \
	$(GO) -C tools/release vet -tags release . && \
	$(GO) -C tools/release test -tags release -timeout 10m -count=1 -v .
