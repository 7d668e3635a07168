import type { Terminal } from './terminal.ts';

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 80;
/** Work that is done sooner shows no spinner. */
const SHOW_AFTER_MS = 150;

/** How a spinner looks after so many milliseconds. */
export function spinnerFrame(elapsedMs: number): string {
  return FRAMES[Math.floor(elapsedMs / FRAME_MS) % FRAMES.length] ?? '';
}

/** Runs work with a spinner on stderr while it lasts; without a terminal there stays only the work. */
export async function withSpinner<T>(terminal: Terminal, label: string, work: () => Promise<T>): Promise<T> {
  if (!terminal.err.isTty) return work();
  const start = performance.now();
  let shown = false;
  const timer = setInterval(() => {
    const elapsed = performance.now() - start;
    if (elapsed < SHOW_AFTER_MS) return;
    shown = true;
    const frame = spinnerFrame(elapsed);
    terminal.err.write(`\r\x1b[K${terminal.err.style.cyan(frame)} ${label}`);
  }, FRAME_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    if (shown) terminal.err.write('\r\x1b[K');
  }
}
