GO ?= go

.PHONY: build test race lint demo examples e2e browser bench seeds kills soak fuzz
build:
	$(GO) build -trimpath -ldflags="-s -w" -o bin/servebench ./cmd/servebench
test:
	$(GO) test ./...
race:
	$(GO) test -race ./...
lint:
	@files=$$(gofmt -l cmd loadgen metrics report dataset tools); test -z "$$files" || { echo "gofmt: $$files"; exit 1; }
	$(GO) vet ./...
	$(GO) vet -tags e2e,servers,oracle,vllm,browser,slurm,soak ./...
	$(GO) tool staticcheck ./...
demo: build
	@rm -f bin/demo.url; bin/servebench sim --port 0 --ready-file bin/demo.url >/dev/null & sim=$$!; trap "kill $$sim" EXIT; \
	while kill -0 $$sim && [ ! -s bin/demo.url ]; do sleep 0.05; done; \
	bin/servebench run --base-url $$(cat bin/demo.url) --num-prompts 100 --request-rate 20 --random-input-len 512 --random-output-len 64
# Runs each examples/*/sim.yaml by the command in its header, in two minutes at most,
# and says how long it took and its exit code. What they print goes to bin/examples.
examples: build
	@rm -rf bin/examples; mkdir bin/examples; failed=0; \
	for file in examples/*/sim.yaml; do \
		command=$$(sed -n 's/^#   servebench //p' $$file); out=bin/examples/$$(basename $$(dirname $$file)); start=$$(date +%s); code=0; \
		PATH="$$PWD/bin:$$PATH" timeout 120 servebench $$command -o $$out >$$out.txt 2>$$out.log || { code=$$?; failed=1; }; \
		echo "$$file: $$(($$(date +%s) - start)) s, exit code $$code"; \
	done; exit $$failed
e2e:
	$(GO) test -tags e2e -timeout 20m -count=1 -run E2E -v ./cmd/servebench
# Opens the pages of servebench report --html in Chromium, and leaves pictures of them in bin/_artifacts.
browser:
	@mkdir -p bin
	$(GO) test -tags browser -timeout 5m -count=1 -run Browser -v -artifacts -outputdir bin ./report/html
.PHONY: manifests slurm
# Decodes what servebench shard kubernetes prints with Kubernetes' own types.
manifests:
	$(GO) -C tools/manifest vet ./...
	$(GO) -C tools/manifest test -timeout 5m -count=1 ./...
# Runs shards under Slurm, of Debian's packages slurm-wlm, slurmctld, slurmd and munge, with daemons of its own on loopback.
slurm:
	$(GO) test -tags slurm -timeout 10m -count=1 -run Slurm -v ./cmd/servebench
# BENCH_QUICK=1 measures less, within a minute.
bench:
	$(GO) run ./tools/bench
# Writes docs/seeds.md, within a few minutes.
seeds:
	$(GO) run ./tools/seeds
# Kills runs under load, and finds each request in its file that was answered 100 ms before. Takes about three minutes.
kills:
	KILLS=$${KILLS:-200} $(GO) test -timeout 20m -count=1 -run '^TestKilledRunLosesNothing$$' -v ./cmd/servebench
# Measures the memory of a run in a week of fake time, and in SOAK_TIME at full speed. Takes a quarter of an hour.
soak:
	SOAK_TIME=$${SOAK_TIME:-10m} $(GO) test -tags soak -timeout 60m -count=1 -run '^TestMemory' -v ./cmd/servebench
# By count, as go test may take the end of a time limit for a failure (context deadline exceeded).
fuzz:
	@for package in $$($(GO) list ./...); do \
		for target in $$($(GO) test -list '^Fuzz' $$package | grep ^Fuzz); do \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $${FUZZTIME:-500000x} -fuzzminimizetime 1x $$package || exit 1; \
		done; done

include tools/oracle.mk dataset/jinja/oracle.mk tools/faults.mk tools/servers.mk
