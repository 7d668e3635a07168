import { shellQuote } from '../../quote.ts';
import type { Place, Word } from './words.ts';

/** The shells that scripts can be made for. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;

type Script = (places: readonly Place[]) => string;

const SCRIPTS: Readonly<Record<(typeof SHELLS)[number], Script>> = { bash, zsh, fish };

/** What makes the script of a shell; undefined for an unknown one. */
export function scriptFor(shell: string): Script | undefined {
  return Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell as keyof typeof SCRIPTS] : undefined;
}

function bash(places: readonly Place[]): string {
  return `# bash completion of svc. Load it: source <(svc completion bash)
_svc() {
  local current=\${COMP_WORDS[COMP_CWORD]} place='' word words=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == -- ]] && return
    case "$place $word" in
${steps(places)}
    esac
  done
  case "$place" in
${places.map((place) => `    '${place.path}') words=${shellQuote(wordList(place))} ;;`).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _svc svc
`;
}

function zsh(places: readonly Place[]): string {
  return `#compdef svc
# zsh completion of svc. Load it: svc completion zsh > "\${fpath[1]}/_svc"
_svc() {
  local place='' word
  for word in \${words[2,CURRENT-1]}; do
    [[ $word == -- ]] && return
    case "$place $word" in
${steps(places)}
    esac
  done
  local -a answers
  case "$place" in
${places.map((place) => `    '${place.path}') answers=(${both(place).map(zshWord).join(' ')}) ;;`).join('\n')}
  esac
  _describe 'svc' answers || _files
}
if [[ $funcstack[1] == _svc ]]; then _svc "$@"; else compdef _svc svc; fi
`;
}

function fish(places: readonly Place[]): string {
  const lines = places.flatMap(({ path, commands, options }) => {
    const here = `-n ${shellQuote(`__svc_at ${shellQuote(path)}`)}`;
    return [
      ...commands.map(({ word, about }) => `complete -c svc -f ${here} -a ${word} -d ${fishQuote(about)}`),
      ...options.map(({ word, about }) => `complete -c svc ${here} ${fishFlag(word)} -d ${fishQuote(about)}`),
    ];
  });
  const paths = places.filter(({ path }) => path !== '').map(({ path }) => shellQuote(path));
  return `# fish completion of svc. Load it: svc completion fish > ~/.config/fish/completions/svc.fish
function __svc_at
  set -l path ''
  for word in (commandline -opc)[2..]
    set -l next (string trim -- "$path $word")
    contains -- $next ${paths.join(' ')}; and set path $next
  end
  test "$path" = "$argv[1]"
end
${lines.join('\n')}
`;
}

/** How one more word leads from a place to the next. */
function steps(places: readonly Place[]): string {
  return places
    .filter(({ path }) => path !== '')
    .map(({ path }) => `      '${path.includes(' ') ? path : ` ${path}`}') place='${path}' ;;`)
    .join('\n');
}

function both({ commands, options }: Place): Word[] {
  return [...commands, ...options];
}

function wordList(place: Place): string {
  return both(place)
    .map(({ word }) => word)
    .join(' ');
}

function zshWord({ word, about }: Word): string {
  return shellQuote(`${word}:${about.replaceAll(':', '\\:')}`);
}

function fishFlag(word: string): string {
  return word.startsWith('--') ? `-l ${word.slice(2)}` : `-s ${word.slice(1)}`;
}

function fishQuote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
