package sweep

// Format describes the file of an experiment for the reader of help.
const Format = `FILE is YAML. Paths in it are relative to its folder, in which commands start. All
keys may be left out:

  seed: 0             # of the first run; repeats and loads get others, arms only if they load one server
  repeats: 4          # of each load on each arm
  order: abba         # every second repeat has the arms in the opposite order; or random, or given
  load:               # flags of servebench run, for all runs
    random-output-len: 128
  grid:               # flags with several values: all combinations; the last key changes fastest
    request-rate: [inf, 16]
    zip:              # values that belong together: 1 and 60, 2 and 120
      max-concurrency: [1, 2]
      num-prompts: [60, 120]
  arms:               # what is compared
    - name: plain
      url: http://127.0.0.1:8000    # where the load goes: --base-url
      load: {}                      # flags of this arm only
      labels: {max-num-seqs: 64}    # what it differs in, for tables, charts and the metadata of its runs
      grid: {}                      # in place of the grid, for this arm only
    - name: kvcached
      url: http://127.0.0.1:${port} # a free port, the same one in the command; also ${port2} and so on
      command: [vllm, serve, MODEL, --port, "${port}"]   # or one text for the shell
      env: {ENABLE_KVCACHED: "true"}   # added to our own, without OPENAI_API_KEY
      ready: http://127.0.0.1:${port}/health   # answers 200 once it is up (default URL/v1/models)
      ready-timeout: 15m
      stop: [docker, stop, NAME]    # before SIGTERM
      stop-timeout: 30s             # before SIGKILL
      log: kvcached.log
      folder: DIR                   # to start it in
      servers: []                   # several servers instead, with the keys from command on
    - name: together
      servers: []
      load: {target: ["a=http://127.0.0.1:${port}", "b=http://127.0.0.1:${port2}"], solo-first: true}
  between:            # before each run
    reset-prefix-cache: true
    command: ./settle.sh            # has SERVEBENCH_ARM and SERVEBENCH_URL
    timeout: 10m                    # of the command
    pause: 5s
  needs:              # what --check looks for, besides what the commands say; an arm may have it, too
    programs: [jq]
    vllm: {from: 0.29, below: 0.31} # releases, as vllm --version says
    python: [torch]                 # modules of python3, or of the Python in PYTHON
    gpu: {memory: 40, sms: 132, driver: 590}   # at least; memory in GB
  against:            # result blocks of documents, next to the runs of one load on one arm
    - blocks: doc.md:2                # the second block; doc.md:2-3 are two
      arm: plain
      load: {max-concurrency: 1}      # flags that choose among several loads of the arm
      target: a                       # of several targets; "a alone" is target a alone
  until:              # find the highest value at which probes pass, instead of one run a load
    flag: request-rate              # or max-concurrency
    from: 1
    to: 64
    step: 1
    slo: {p99-ttft: 200, mean-tpot: 50}   # in milliseconds; p99 needs 1,000 requests a probe, p90 100
    confirm: 2                      # more probes of each of the two values at the edge; the majority decides

A grid may be a list of such mappings, one after the other. The servers of an arm
start for each repeat and stop after it, with all processes that they started, also
when servebench is killed. So does the command between runs.`
