GO ?= go

.PHONY: build test race lint e2e
build:
	$(GO) build -trimpath -ldflags="-s -w" -o bin/servebench ./cmd/servebench
test:
	$(GO) test ./...
race:
	$(GO) test -race ./...
lint:
	@test -z "$$(gofmt -l cmd loadgen metrics report dataset)" || { gofmt -l cmd loadgen metrics report dataset; exit 1; }
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
# A real inference server, built from the module proxy the first time.
e2e:
	$(GO) test -tags e2e -count=1 -timeout 20m -run E2E ./cmd/servebench
