import { findProgram, HOST_ENV, HostCommandError, run, textOf } from '../../host/run.ts';
import { isOpaque } from '../../host/syscalls.ts';

/** Copying takes as long as there is to copy; a disk that hangs does not hold a box for ever. */
const COPY_TIMEOUT_MS = 30 * 60_000;
const NUL = 0;
/** Folders that are looked at before others get a turn. */
const BATCH = 500;

/**
 * Copies a tree of files with all that it is: owners, modes, times, holes, links among its files, extended
 * attributes with those of overlays, whiteouts, pipes and sockets. Both trees hold still. Blocks are shared where
 * the file system can. Errors: HostCommandError.
 */
export async function copyTree(from: string, to: string): Promise<void> {
  const words = ['--archive', '--reflink=auto', '--sparse=auto', '--no-target-directory', '--', from, to];
  await run(['cp', ...words], { timeoutMs: COPY_TIMEOUT_MS });
}

/** Bytes on the disk below a folder. Errors: HostCommandError. */
export async function sizeOfTree(dir: string): Promise<number> {
  const said = await run(['du', '--summarize', '--block-size=1', '--', dir], { timeoutMs: COPY_TIMEOUT_MS });
  return Number.parseInt(said, 10);
}

/** Brings everything that was written to the file system of a folder onto its disk. Errors: HostCommandError. */
export async function flushTree(dir: string): Promise<void> {
  await run(['sync', '--file-system', '--', dir], { timeoutMs: COPY_TIMEOUT_MS });
}

/** Removes trees of files; links are not followed and nothing that is mounted is touched. Errors: HostCommandError. */
export async function removeTrees(...dirs: readonly string[]): Promise<void> {
  await run(['rm', '-rf', '--one-file-system', '--', ...dirs], { timeoutMs: COPY_TIMEOUT_MS });
}

/** The folders below `dir` that hide what lies under them, as paths relative to it: bytes, as names need not be text. */
export async function opaqueFolders(dir: string): Promise<Uint8Array[]> {
  const found: Uint8Array[] = [];
  let seen = 0;
  for await (const path of foldersBelow(dir)) {
    if (isOpaque(Buffer.concat([Buffer.from(`${dir}/`), path]))) found.push(path);
    if (++seen % BATCH === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  return found;
}

async function* foldersBelow(dir: string): AsyncGenerator<Uint8Array> {
  const find = Bun.spawn(
    [findProgram('find') ?? 'find', '.', '-mindepth', '1', '-type', 'd', '-printf', '%P\\0'],
    {
      cwd: dir,
      env: { ...HOST_ENV },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let rest = Buffer.alloc(0);
  for await (const chunk of find.stdout) {
    rest = Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf(NUL); end >= 0; end = rest.indexOf(NUL)) {
      yield Uint8Array.from(rest.subarray(0, end));
      rest = rest.subarray(end + 1);
    }
  }
  const code = await find.exited;
  if (code !== 0) throw new HostCommandError('find', code, await textOf(find.stderr));
}
