# Signals every process whose mark is in [$1, $2) and not in [$3, $4) with $5, as root of the box; 0 only looks. For KILL
# it stops them all first, so that none forks on, then kills until none is left. Exit code 3: there was none;
# 1: some are left. Without a fork, so that it works where no process slot is free.
low=$1 high=$2 spare_low=$3 spare_high=$4 signal=$5

marked() {
  while read -r a b c soft hard rest; do
    [ "$a $b $c" = 'Max file locks' ] || continue
    case $hard in *[!0-9]* | '') return 1 ;; esac
    [ "$hard" -ge "$low" ] && [ "$hard" -lt "$high" ] || return 1
    [ "$hard" -lt "$spare_low" ] || [ "$hard" -ge "$spare_high" ]
    return
  done <"/proc/$1/limits"
  return 1
}

# Sets `value` to the state of a process: X when it is gone.
look() {
  while read -r key value rest; do
    [ "$key" = State: ] && return
  done <"/proc/$1/status"
  value=X
}

# Signals those that are alive, and counts them.
pass() {
  count=0
  for folder in /proc/[0-9]*; do
    pid=${folder#/proc/}
    marked "$pid" || continue
    look "$pid"
    case $1$value in *[ZXx] | STOP[Tt]) continue ;; esac
    kill "-$1" "$pid" && count=$((count + 1))
  done
}

exec 2>/dev/null
if [ "$signal" != KILL ]; then
  pass "$signal"
  [ "$count" -gt 0 ] || exit 3
  exit 0
fi
found=0
tries=0
while pass STOP && [ "$count" -gt 0 ] && [ "$tries" -lt 30 ]; do found=1 tries=$((tries + 1)); done
tries=0
while pass KILL && [ "$count" -gt 0 ] && [ "$tries" -lt 300 ]; do found=1 tries=$((tries + 1)); done
[ "$count" -eq 0 ] || exit 1
[ "$found" -gt 0 ] || exit 3
