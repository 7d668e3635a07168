import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readJson, writeWhole } from '../../host/files.ts';
import type { Host } from '../box/host.ts';

/** What an archive stands on. It holds as long as the archive or the box that it is made of is there. */
interface Hold {
  readonly file: string;
  readonly box: string;
  readonly layers: readonly string[];
}

/** Notes on which layers an archive stands, before it is made. */
export function holdLayers(host: Host, hold: Hold): void {
  mkdirSync(folder(host), { recursive: true, mode: 0o700 });
  const name = new Bun.CryptoHasher('sha256').update(hold.file).digest('hex');
  writeWhole(join(folder(host), `${name}.json`), JSON.stringify(hold));
}

/** The layers that archives stand on. What is held for archives that are gone is forgotten. */
export function heldLayers(host: Host): string[][] {
  if (!existsSync(folder(host))) return [];
  return readdirSync(folder(host)).flatMap((name) => {
    const path = join(folder(host), name);
    const hold = readJson<Hold>(path);
    if (hold && (existsSync(hold.file) || existsSync(join(host.layout.boxes, hold.box))))
      return [[...hold.layers]];
    rmSync(path, { force: true });
    return [];
  });
}

function folder(host: Host): string {
  return join(host.layout.shared, 'archives');
}
