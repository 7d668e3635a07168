import type { LiveScreen } from '../../ui/live-screen.ts';
import type { OutputStream, Terminal } from '../../ui/terminal.ts';

/** A terminal whose lines stand above the live lines of a screen. */
export function onScreen(screen: LiveScreen, { out, err }: Terminal): Terminal {
  const over = (stream: OutputStream): OutputStream => ({
    isTty: stream.isTty,
    get columns() {
      return stream.columns;
    },
    style: stream.style,
    write(data) {
      const text = typeof data === 'string' ? data : new TextDecoder().decode(data);
      screen.line(text.replace(/\n$/, ''));
      return true;
    },
    drained: () => stream.drained(),
    flush: () => stream.flush(),
  });
  return {
    out: over(out),
    err: over(err),
    print: (line) => screen.line(line),
    note: (line) => screen.line(line),
  };
}
