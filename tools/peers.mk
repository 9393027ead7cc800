# Servebench and other clients in turns, against a server that notes what really happened. It
# needs Linux, Python, two cores that little else uses, and the clients of vLLM (0.4 GB). AIPerf
# (1 GB) takes part with PEERS_AIPERF=1, or if it is installed already.
.PHONY: peers sessions peers-aiperf peers-multi-turn
PEERS ?= $(HOME)/.cache/servebench-peers
peers: build ## compare servebench with other clients and write docs/measured/clients.md, within 15 minutes; PEERS_QUICK=1 prints it after three
	@timeout 900 $(MAKE) --no-print-directory vllm-client $(if $(PEERS_AIPERF),peers-aiperf) || echo "peers: not all clients could be installed"
	$(GO) -C tools build -o ../bin/peers ./peers
	timeout 1200 bin/peers -vllm $(VLLM)/venv -aiperf $(PEERS)/aiperf/bin/aiperf
peers-aiperf:
	python3 -m venv $(PEERS)/aiperf && $(PEERS)/aiperf/bin/pip install --quiet aiperf==0.13.0
# SERVEBENCH_MOONCAKE_400 may name a file of Mooncake's, to be found in its prefixes as the formula says.
sessions: build ## compare how clients send sessions, write docs/measured/sessions.md, and measure sessions in full, within 20 minutes; PEERS_QUICK=1 prints the page after two
	@timeout 900 $(MAKE) --no-print-directory vllm-client peers-multi-turn peers-aiperf || echo "sessions: not all clients could be installed"
	$(GO) -C tools build -o ../bin/peers ./peers
	timeout 1200 bin/peers -sessions -vllm $(VLLM)/venv -aiperf $(PEERS)/aiperf/bin/aiperf -multi-turn $(PEERS)/multi_turn-0.33.0
	[ -n "$(PEERS_QUICK)" ] || { FULL=1 $(GO) test -timeout 15m -count=1 -run '^(TestMemoryOfSessions|TestBoundsMakeTheWorkingSet|TestMooncakeFindsItsPrefixes)$$' -v ./cmd/servebench ./loadgen && \
		$(MAKE) --no-print-directory vllm-sessions; }
# The script is in the source of vLLM only, which pip unpacks before it fails to build it.
peers-multi-turn: vllm-client
	[ -d $(PEERS)/multi_turn-0.33.0 ] || { mkdir -p $(PEERS)/source && \
		{ TMPDIR=$(PEERS)/source $(VLLM)/venv/bin/pip download --quiet --no-deps --no-binary :all: --no-build-isolation --no-clean -d $(PEERS)/source vllm==0.33.0 >/dev/null 2>&1; \
		mv $(PEERS)/source/*/vllm_*/benchmarks/multi_turn $(PEERS)/multi_turn-0.33.0; rm -rf $(PEERS)/source; }; }
