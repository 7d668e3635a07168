# Becomes a command. $1: its mark; $2: the file that takes the reason when it cannot start; $3: its folder;
# $4: rows and columns of its terminal, or nothing; $5: the log of a detached command, or nothing; $6: the
# file that takes its exit code; then its words.
mark=$1 complaint=$2 dir=$3 size=$4 log=$5 record=$6
shift 6

refuse() {
  printf '%s' "$2" >"$complaint"
  exit "$1"
}

# An exec that fails ends the shell, and the shell then tells why.
start() {
  ulimit -x "$mark" 2>/dev/null || ulimit -w "$mark" 2>/dev/null ||
    refuse 126 'the shell of the image cannot mark a command'
  cd "$dir" 2>/dev/null || refuse 126 "the directory $dir cannot be entered"
  trap '[ $? = 126 ] && refuse 126 "$1 cannot be executed"; refuse 127 "there is no program $1"' 0
  exec "$@"
}

[ -z "$size" ] || stty rows "${size% *}" cols "${size#* }" 2>/dev/null
[ -n "$log" ] || start "$@"

# A detached command runs below a shell without a mark, which a kill of the command spares: so its exit code
# is kept here when nobody listens to the engine. Its output goes through a pipe, as a program that opens its
# own /dev/stdout would cut a file off.
pipe=$log.pipe
true >>"$log" || refuse 126 'the log of the command cannot be written'
mkfifo "$pipe" || refuse 126 'the output of the command cannot be connected'
{
  cat <"$pipe" >>"$log"
  rm -f "$pipe"
} &
(start "$@") </dev/null >"$pipe" 2>&1
code=$?
# What was written is in the log before the end is told; what descendants still write comes later.
tries=0
while [ -e "$pipe" ] && [ "$tries" -lt 20 ]; do
  sleep 0.01
  tries=$((tries + 1))
done
printf '%s' "$code" >"$record"
exit "$code"
