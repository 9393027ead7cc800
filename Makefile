# make builds, and make help lists everything else.
GO ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null)
COMMIT ?= $(shell git rev-parse HEAD 2>/dev/null)

.PHONY: build help
VERSION_PACKAGE = github.com/servebench/servebench/cmd/servebench/internal/version
build: ## build bin/servebench, a single static file
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags="-s -w -X $(VERSION_PACKAGE).linked=$(VERSION) -X $(VERSION_PACKAGE).linkedCommit=$(COMMIT)" -o bin/servebench ./cmd/servebench
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z][a-z0-9-]*:.*## /{printf "%-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: man shells
man: build ## write the manual pages to bin/man
	bin/servebench man bin/man
shells: ## complete command lines in bash, zsh and fish, and check the manual pages with groff
	$(GO) test -count=1 -run 'TestShellsComplete|TestManualPages' -v ./cmd/servebench

.PHONY: test tools-test house race flaky lint demo examples pictures docs e2e browser
test: ## run the tests; they need only Go
	$(GO) test -shuffle=on -timeout 20m ./...
# The next two always run again, because go test does not notice changes in files outside their module.
tools-test: ## run the tests of the programs in tools, except what make house runs
	$(GO) -C tools test -timeout 20m -count=1 -skip '^TestHouse$$' ./...
house: ## check what packages may import, their sizes and their exported names
	$(GO) -C tools test -count=1 -run '^TestHouse$$' ./house
# Only packages that start goroutines, or share memory between them, can have races between their own.
CONCURRENT = $(shell grep -rlE '^\s+go |errgroup|sync\.(WaitGroup|Pool)' --include=*.go --exclude=*_test.go cmd loadgen metrics report dataset | xargs -n1 dirname | sort -u | sed 's|^|./|')
race: ## run the tests with the race detector; needs a C compiler; SHORT=1 runs go test -short where goroutines start
	$(GO) test -race -shuffle=on $(if $(SHORT),-short) -timeout 60m $(if $(SHORT),$(CONCURRENT),./...)
N ?= 10
PACKAGES ?= ./...
flaky: ## run the tests N (10) times next to two busy loops, and list what failed; goes on after an interruption
	@GO="$(GO)" tools/flaky.sh $(N) $(PACKAGES)
lint: ## gofmt, go vet and staticcheck
	@files=$$(gofmt -l cmd loadgen metrics report dataset tools); test -z "$$files" || { echo "gofmt: $$files"; exit 1; }
	$(GO) vet ./...
	$(GO) vet -tags outside,e2e,servers,oracle,browser,slurm,live,soak ./...
	$(GO) tool staticcheck ./...
	$(GO) -C tools vet ./...
	$(GO) -C tools vet -tags vllm ./...
	$(GO) -C tools/release vet -tags release ./...
	$(GO) -C tools tool -modfile=../go.mod staticcheck ./...
# The build before may keep the cores busy: demo waits up to 5 s until 80 % of them are idle.
demo: build ## load a simulated server
	@rm -f bin/demo.url; bin/servebench sim --port 0 --ready-file bin/demo.url >/dev/null & sim=$$!; trap "kill $$sim" EXIT; \
	while kill -0 $$sim && [ ! -s bin/demo.url ]; do sleep 0.05; done; \
	idle() { awk 'NR == 1 {print $$5 + $$6}' /proc/stat; }; cores=$$(getconf _NPROCESSORS_ONLN); \
	for half in 1 2 3 4 5 6 7 8 9 10; do \
		[ -r /proc/stat ] || break; before=$$(idle); sleep 0.5; [ $$(($$(idle) - before)) -lt $$((40 * cores)) ] || break; \
	done; \
	bin/servebench run --strict --base-url $$(cat bin/demo.url) --num-prompts 100 --request-rate 20 --random-input-len 512 --random-output-len 64 || { code=$$?; \
		[ $$code = 3 ] || exit $$code; echo "make demo: SUSPECT is no error here. It shows that servebench tells when a number cannot be trusted; on a quiet machine the run is VALID."; }
# The header of each examples/*/sim.yaml has the command to run it, within two minutes.
# Their output goes to bin/examples.
examples: build ## run each sweep in examples against the simulator
	@rm -rf bin/examples; mkdir bin/examples; failed=0; \
	for file in examples/*/sim.yaml; do \
		command=$$(sed -n '/^#   servebench /{s/^#   servebench //p;q}' $$file); out=bin/examples/$$(basename $$(dirname $$file)); start=$$(date +%s); code=0; \
		PATH="$$PWD/bin:$$PATH" timeout 120 servebench $$command -o $$out >$$out.txt 2>$$out.log || { code=$$?; failed=1; }; \
		echo "$$file: $$(($$(date +%s) - start)) s, exit code $$code"; \
	done; exit $$failed
docs: ## check the links of README and docs, and run each command that they show
	$(GO) test -count=1 -run '^TestREADMEIsShort|^TestLinksLead|^TestPagesName|^TestDocumented' ./cmd/servebench
# A busy machine makes the runs SUSPECT, and the pictures say so.
pictures: build ## record testdata/pictures, and take docs/pictures of it in Chromium; needs 5 minutes of a quiet machine
	@rm -rf bin/pictures; mkdir bin/pictures; \
	bin/servebench sim --port 0 --ready-file bin/pictures/url --model small-chat --tokenizer stub-32000 --step-base 25ms --step-per-prompt-token 100us >/dev/null & sim=$$!; trap "kill $$sim" EXIT; \
	while kill -0 $$sim && [ ! -s bin/pictures/url ]; do sleep 0.05; done; \
	bin/servebench run --base-url $$(cat bin/pictures/url) --num-prompts 100 --request-rate 10 --random-input-len 512 --random-output-len 32 -o testdata/pictures/run.jsonl && \
	PATH="$$PWD/bin:$$PATH" servebench sweep testdata/pictures/sweep.yaml -o bin/pictures/sweep && \
	cp bin/pictures/sweep/records.jsonl testdata/pictures/sweep.jsonl && \
	$(GO) test -tags browser -count=1 -run TestTakePictures ./report/html
e2e: ## load a real inference server, which it downloads and builds
	$(GO) test -tags e2e -timeout 20m -count=1 -run E2E -v ./cmd/servebench
browser: ## open HTML reports in Chromium; screenshots go to bin/_artifacts
	@mkdir -p bin
	$(GO) test -tags browser -timeout 10m -count=1 -run Browser -v -artifacts -outputdir bin ./report/html

# It needs Debian's packages prometheus, maven and default-jre-headless.
.PHONY: live
live: ## have Prometheus and HdrHistogram's Java tools read the data of runs
	$(GO) test -tags live -timeout 10m -count=1 -run '^TestLive' -v ./cmd/servebench

.PHONY: embed manifests outside slurm
embed: ## run a load from a program that imports servebench
	$(GO) -C tools/embed vet ./...
	$(GO) -C tools/embed run .
manifests: ## decode what servebench shard kubernetes prints with Kubernetes' own types
	$(GO) -C tools/manifest vet ./...
	$(GO) -C tools/manifest test -timeout 5m -count=1 ./...
outside: ## run GitHub's action and the examples for GPUs, with stand-ins for GitHub, Docker and NVIDIA's programs
	$(GO) test -tags outside -timeout 15m -count=1 -run '^TestAction|^TestExamplesProve' -v ./cmd/servebench
# Needs Debian's packages slurm-wlm, slurmctld, slurmd and munge; the daemons run on loopback.
slurm: ## run shards under Slurm
	$(GO) test -tags slurm -timeout 10m -count=1 -run Slurm -v ./cmd/servebench

.PHONY: bench waterfall power verdicts seeds kills soak full fuzz
bench: build ## compare CPU, memory, lag and stamps with other clients; BENCH_QUICK=1 takes a minute
	$(GO) -C tools build -o ../bin/peers ./peers
	bin/peers -bench $(if $(BENCH_QUICK),-quick)
power: ## show how often compare is wrong, and how often it finds what is there; takes an hour of one core
	$(GO) -C tools/power run .
# VERDICTS has more flags, such as -runs 5, -set check -seed 7, or -report.
verdicts: build ## count how often verdicts are right, against a server that knows the truth; goes on after an interruption
	$(GO) -C tools build -o ../bin/verdict-counts ./verdicts
	bin/verdict-counts $(VERDICTS)
# WITH="chrt --rr 10" keeps other work of the machine out of the figures of series and waterfall.
SERIES ?= bin/series
series: ## make 80 sequential sweeps of llama.cpp's server, and count their verdicts; takes 30 minutes, and goes on after an interruption
	SERIES=$(abspath $(SERIES)) $(WITH) $(GO) test -tags e2e -timeout 180m -count=1 -run '^TestSeries' -v ./cmd/servebench
waterfall: build ## compare the spans of requests with the log of the simulator; needs a quiet machine
	$(GO) -C tools build -o ../bin/waterfall ./waterfall
	$(WITH) bin/waterfall
seeds: ## write docs/measured/profiles.md, within a few minutes
	$(GO) -C tools build -o ../bin/seeds ./seeds
	bin/seeds
kills: ## kill KILLS (200) runs under load, and check that no answer older than 100 ms is lost
	KILLS=$${KILLS:-200} $(GO) test -timeout 20m -count=1 -run '^TestKilledRunLosesNothing$$' -v ./cmd/servebench
soak: ## measure memory over a week of fake time, then SOAK_TIME (10m) at full speed
	SOAK_TIME=$${SOAK_TIME:-10m} $(GO) test -tags soak -timeout 60m -count=1 -run '^TestMemory' -v ./cmd/servebench ./loadgen
full: ## run the tests of chance and of memory with all their runs
	FULL=1 $(GO) test -timeout 30m -count=1 -run '^(TestTheCauserIsNamed|TestResampledPercentiles.*|TestAddedTimeIsFoundInItsSpan|TestTailIsNoBacklog|TestKilledSweep.*|TestMemoryOfImages|TestMemoryOfSessions|TestMillionPrompts.*|TestFalseAlarms.*|TestATenth.*|TestPairsFindATenth.*|TestThreeAgainstThree.*)$$' \
		./loadgen ./loadgen/engine ./loadgen/sim ./metrics/compare ./cmd/servebench
# By count, because go test may report the end of a time limit as a failure (context deadline exceeded).
fuzz: ## run all fuzz targets, FUZZTIME (500000x) each
	@for package in $$($(GO) list ./...); do \
		for target in $$($(GO) test -list '^Fuzz' $$package | grep ^Fuzz); do \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $${FUZZTIME:-500000x} -fuzzminimizetime 1x $$package || exit 1; \
		done; done

include tools/release.mk tools/oracle.mk dataset/jinja/oracle.mk tools/faults.mk tools/kubernetes.mk tools/servers.mk tools/peers.mk
