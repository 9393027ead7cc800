#!/bin/sh
# flaky.sh N PACKAGE...: runs the tests N times next to two busy loops, and lists what failed. The rounds that have
# ended are kept in bin/flaky, in a folder for each commit: the same command goes on after an interruption.
rounds=$1
shift
dir=bin/flaky/$(git describe --always --dirty --exclude='*') && mkdir -p "$dir" || exit 2

loops=
trap 'kill $loops' EXIT
trap 'exit 130' INT TERM HUP
for _ in 1 2; do
	while kill -0 $$; do :; done 2>/dev/null & # also ends if this script is killed
	loops="$loops $!"
done

# failed prints the tests that failed by the output of go test: no test with a subtest that failed, too, and the package
# alone where no test is named, as after a panic.
failed() {
	awk '
		$1 == "---" && $2 == "FAIL:" { if (n && index($3, names[n] "/") == 1) n--; names[++n] = $3 }
		/^FAIL\t/ { for (i = 1; i <= n; i++) print $2, names[i]; if (!n) print $2; n = 0 }
		/^ok / { n = 0 }
	' "$1"
}

round=0
while [ $((round += 1)) -le "$rounds" ]; do
	[ ! -e "$dir/$round.failed" ] || continue
	echo "round $round of $rounds"
	${GO:-go} test -count=1 -shuffle=on -timeout 30m "$@" >"$dir/$round.log" 2>&1
	failed "$dir/$round.log" >"$dir/part" && mv "$dir/part" "$dir/$round.failed" || exit 2
	cat "$dir/$round.failed"
done

round=0
while [ $((round += 1)) -le "$rounds" ]; do cat "$dir/$round.failed"; done | sort | uniq -c | sort -rn |
	awk -v all="$rounds" '{ n = $1; sub(/^ *[0-9]+ /, ""); print $0 ": failed " n " of " all } END { exit NR > 0 }' || {
	echo "the output of go test is in $dir"
	exit 1
}
echo "all tests passed $rounds times"
