# Keeps the variables, functions and directory of a bash context and runs code in it. Descriptor 7 brings a line
# "token count length" and then so many bytes of code; 8 and 9 are the outputs of the context, closed to the code.
# What is said to the daemon stands between the output, behind a mark that holds the token of the run.

# An interrupt leaves every function, loop and file that the code is in: with extdebug, a DEBUG trap that gives 2
# stands for return. The trap is set by a string, since a function that ends takes back a DEBUG trap it has set.
__svc_measure() { __svc_depth=${#FUNCNAME[@]}; }
__svc_measure
__svc_leave() { return $((${#FUNCNAME[@]} > __svc_depth ? 2 : 0)); }
__svc_interrupt='__svc_stopped=1; shopt -s extdebug; set -o functrace; trap __svc_leave DEBUG'
__svc_say() { builtin printf '\x1e%s.%s\n' "$__svc_token" "$1" >&"$2"; }
__svc_token=
__svc_stopped=

while IFS=' ' builtin read -r __svc_token __svc_count __svc_length <&7; do
  if [ "$__svc_count" = 0 ]; then
    __svc_say '{"type":"ready"}' 8
    continue
  fi
  LC_ALL=C IFS= builtin read -r -N "$__svc_length" __svc_code <&7 || break
  trap "$__svc_interrupt" INT
  builtin source /dev/stdin <<<"$__svc_code" 1>&8 2>&9 7<&- 8>&- 9>&-
  __svc_status=$?
  trap - DEBUG
  trap '' INT
  shopt -u extdebug
  set +o functrace
  [ -z "$__svc_stopped" ] || __svc_status=130
  __svc_stopped=
  __svc_say "{\"type\":\"end\",\"code\":$__svc_status}" 8
  __svc_say '{"type":"end"}' 9
done
