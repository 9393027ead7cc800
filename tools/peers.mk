# Servebench and other clients in turns, against a server that notes what really happened. It
# needs Linux, Python, two cores that little else uses, and the clients of vLLM (0.4 GB). AIPerf
# (1 GB) takes part with PEERS_AIPERF=1, or if it is installed already.
.PHONY: peers peers-aiperf
PEERS ?= $(HOME)/.cache/servebench-peers
peers: build ## compare servebench with other clients and write docs/beside-others.md, within 15 minutes; PEERS_QUICK=1 prints it after three
	@timeout 900 $(MAKE) --no-print-directory vllm-client $(if $(PEERS_AIPERF),peers-aiperf) || echo "peers: not all clients could be installed"
	$(GO) build -o bin/peers ./tools/peers
	timeout 1200 bin/peers -vllm $(VLLM)/venv -aiperf $(PEERS)/aiperf/bin/aiperf
peers-aiperf:
	python3 -m venv $(PEERS)/aiperf && $(PEERS)/aiperf/bin/pip install --quiet aiperf==0.13.0
