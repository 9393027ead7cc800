# The servers go into a folder of the cache; building ollama takes ten minutes. It needs
# Python, a C++ compiler and Debian's apt-get. transformers serve comes
# from a Python with PyTorch, which make vllm-e2e installs; without it, that server is skipped.

.PHONY: servers

SERVERS ?= $(HOME)/.cache/servebench-servers
OLLAMA = $(SERVERS)/ollama-v0.17.4
LITELLM = $(SERVERS)/litellm-1.106.2
ACCELERATE = $(SERVERS)/accelerate-1.15.0
TRANSFORMERS ?= $(wildcard $(HOME)/.cache/servebench-engine/venv/bin/transformers)

servers: $(OLLAMA)/ollama $(LITELLM)/bin/litellm $(ACCELERATE) ## load servers that people run, and compare the counts with go-openai's
	OLLAMA=$(OLLAMA)/ollama LITELLM=$(LITELLM)/bin/litellm TRANSFORMERS=$(TRANSFORMERS) ACCELERATE=$(ACCELERATE) $(GO) test -tags servers -timeout 20m -count=1 -run Servers -v ./cmd/servebench

$(LITELLM)/bin/litellm:
	python3 -m venv $(LITELLM) && $(LITELLM)/bin/pip install --quiet 'litellm[proxy]==1.106.2'

# What transformers serve needs apart from PyTorch.
$(ACCELERATE): $(LITELLM)/bin/litellm
	$(LITELLM)/bin/pip install --quiet --no-deps --target $(ACCELERATE) accelerate==1.15.0

# ollama's module lacks the headers of other modules that its build needs.
$(OLLAMA)/ollama:
	mkdir -p $(OLLAMA) && python3 -m venv $(OLLAMA)/venv
	cd $(OLLAMA) && apt-get download nlohmann-json3-dev libstb-dev && for deb in *.deb; do dpkg -x $$deb . || exit 1; done
	cd $(OLLAMA) && venv/bin/pip download --quiet --no-deps --no-binary miniaudio miniaudio==1.71 && tar xzf miniaudio-1.71.tar.gz
	GOBIN=$(OLLAMA) CGO_ENABLED=1 CGO_CFLAGS="-O2 -I$(OLLAMA)/usr/include -I$(OLLAMA)/miniaudio-1.71" \
		CGO_CXXFLAGS="-O2 -I$(OLLAMA)/usr/include -I$(OLLAMA)/miniaudio-1.71" $(GO) install github.com/ollama/ollama@v0.17.4
