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
# is kept here when nobody listens to the engine.
true >>"$log" || refuse 126 'the log of the command cannot be written'
(start "$@") </dev/null >>"$log" 2>&1
code=$?
printf '%s' "$code" >"$record"
exit "$code"
