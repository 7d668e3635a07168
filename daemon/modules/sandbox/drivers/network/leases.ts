import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../host/files.ts';
import { ADDRESSES } from './subnet.ts';

/** Places in the subnet, one a box. A taken place is a file, so that no two daemons hand out the same. */
export class Leases {
  private next = 0;

  constructor(private readonly dir: string) {}

  /** Takes a free place, not one that was given back a moment ago; undefined when all are taken. */
  take(): number | undefined {
    mkdirSync(this.dir, { recursive: true });
    const taken = new Set(readdirSync(this.dir).map(Number));
    for (let i = 0; i < ADDRESSES; i++) {
      const place = (this.next + i) % ADDRESSES;
      if (taken.has(place) || !this.tryTake(place)) continue;
      this.next = place + 1;
      return place;
    }
    return undefined;
  }

  /** Gives a place back. */
  release(place: number): void {
    rmSync(join(this.dir, String(place)), { force: true });
  }

  /** Gives back every place that no box has. */
  keepOnly(used: ReadonlySet<number>): void {
    mkdirSync(this.dir, { recursive: true });
    for (const name of readdirSync(this.dir)) if (!used.has(Number(name))) this.release(Number(name));
  }

  private tryTake(place: number): boolean {
    try {
      writeFileSync(join(this.dir, String(place)), '', { flag: 'wx' });
      return true;
    } catch (error) {
      if (errnoOf(error) === 'EEXIST') return false;
      throw error;
    }
  }
}
