const OPENING = '([{';
const CLOSING = ')]}';
const QUOTES = ['"""', "'''", '"', "'", '`'];

/** Whether what was typed so far is a whole piece of code, by its brackets, quotes and, in Python, its blocks. */
export function isWhole(code: string, language: string): boolean {
  const lines = code.split('\n');
  const last = lines.at(-1) ?? '';
  if (last.endsWith('\\') || isOpen(code, language)) return false;
  if (language !== 'python' || lines.length === 1) return !(language === 'python' && opensBlock(last));
  return !lines.some(opensBlock) || last.trim() === '';
}

function opensBlock(line: string): boolean {
  return /:\s*(#.*)?$/.test(line) || /^\s*@\w/.test(line);
}

/** Whether a bracket or a text over several lines is open at the end. */
function isOpen(code: string, language: string): boolean {
  const comment = language === 'python' || language === 'bash' ? '#' : '//';
  let depth = 0;
  let quote = '';
  for (let at = 0; at < code.length; at++) {
    if (code[at] === '\\') at++;
    else if (quote !== '') {
      if (!code.startsWith(quote, at)) continue;
      at += quote.length - 1;
      quote = '';
    } else if (code.startsWith(comment, at)) at = endOfLine(code, at);
    else {
      quote = QUOTES.find((one) => code.startsWith(one, at)) ?? '';
      at += Math.max(quote.length - 1, 0);
      depth += Number(OPENING.includes(code[at] ?? ' ')) - Number(CLOSING.includes(code[at] ?? ' '));
    }
  }
  const spansLines = quote.length === 3 || quote === '`' || (quote !== '' && language === 'bash');
  return depth > 0 || spansLines;
}

function endOfLine(code: string, from: number): number {
  const end = code.indexOf('\n', from);
  return end < 0 ? code.length : end;
}
