import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fail } from '../src/errors/app-error.ts';

/** How long a browser may take to read the page that leads on. */
const READ_MS = 5_000;

/**
 * Opens an address in the user's browser. Everybody on a machine sees the arguments of its programs, so the browser is
 * given a page, which only the user can read, that leads to the address. Errors: failed_precondition without a browser.
 */
export async function openInBrowser(url: string): Promise<void> {
  const opener = Bun.which(process.platform === 'darwin' ? 'open' : 'xdg-open');
  if (!opener)
    throw fail('failed_precondition', {
      message: 'No browser can be opened here: xdg-open is not installed.',
    });
  const dir = mkdtempSync(join(tmpdir(), 'svc-open-'));
  try {
    const page = join(dir, 'open.html');
    const target = Bun.escapeHTML(url);
    const head = `<meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url=${target}">`;
    writeFileSync(page, `<!doctype html>${head}<a href="${target}">Open the preview</a>`, { mode: 0o600 });
    Bun.spawn([opener, page], { stdio: ['ignore', 'ignore', 'ignore'] }).unref();
    await Bun.sleep(READ_MS);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
