import { newId } from '../../../../src/kit/id.ts';
import type { SandboxDriver } from '../drivers/driver.ts';
import type { Places } from './sftp/requests.ts';

/** Asks a running sandbox where its commands start and where its user is at home. */
export async function placesIn(driver: Pick<SandboxDriver, 'exec'>, boxId: string): Promise<Places> {
  const argv = ['/bin/sh', '-c', 'printf "%s\\0%s" "$PWD" "$HOME"'] as const;
  const process = await driver.exec(boxId, { id: newId('cmd'), argv });
  const parts: Uint8Array[] = [];
  for await (const { bytes } of process.output) parts.push(bytes);
  await process.exited;
  const [start = '', home = ''] = Buffer.concat(parts).toString('utf8').split('\0');
  return { start: pathOr(start, '/'), home: pathOr(home, '/') };
}

function pathOr(path: string, other: string): string {
  return path.startsWith('/') ? path : other;
}
