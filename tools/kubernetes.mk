# Shards as a Job on a real Kubernetes. Only root can run it. It needs Debian's packages
# etcd-server, containerd, runc, containernetworking-plugins and iproute2. It is not in
# .ci/run because building Kubernetes takes ten minutes; the programs are kept for later runs.
.PHONY: kubernetes
KUBERNETES_VERSION := $(shell awk '$$1 == "k8s.io/kubernetes" {print $$2}' tools/kubernetes/go.mod)
KUBERNETES := $(HOME)/.cache/servebench-kubernetes/$(KUBERNETES_VERSION)
kubernetes: build | $(KUBERNETES) ## run shards as a Job on Kubernetes, after building it within 15 minutes
	$(GO) -C tools/release build -o ../../bin/release .
	bin/release -only linux/$$($(GO) env GOARCH) -out bin/kubernetes -version "$(VERSION)" -commit "$(COMMIT)" -time "$$(git log -1 --format=%ct)"
	$(GO) -C tools/kubernetes vet ./...
	PATH="$(KUBERNETES):$$PWD/bin:$$PATH:/usr/sbin:/sbin" CGO_ENABLED=0 $(GO) -C tools/kubernetes test -timeout 10m -count=1 -v . -args -archive $$(ls $$PWD/bin/kubernetes/*.image.tar)
$(KUBERNETES):
	CGO_ENABLED=0 nice $(GO) -C tools/kubernetes build -p 1 -trimpath -ldflags="-s -w -X k8s.io/component-base/version.gitVersion=$(KUBERNETES_VERSION)" -o $@.part/ tool
	mv $@.part $@
