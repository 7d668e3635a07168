import { run } from '../host/run.ts';

/** Chains of the host, not of ours, that drop packets that they do not know: `ip filter FORWARD`. */
export interface ForeignDrops {
  /** What boxes send to elsewhere passes these. */
  readonly forward: readonly string[];
  /** What boxes ask this host passes these: their questions for names. */
  readonly input: readonly string[];
}

/** Finds the chains of others that boxes depend on. @param own our own tables */
export async function foreignDrops(own: string): Promise<ForeignDrops> {
  return parseDrops(await run(['nft', 'list', 'chains']).catch(() => ''), own);
}

/** Reads what `nft list chains` prints. */
export function parseDrops(text: string, own: string): ForeignDrops {
  const found = { forward: [] as string[], input: [] as string[] };
  let table = '';
  let chain = '';
  for (const line of text.split('\n')) {
    table = /^table (\S+ \S+) \{/.exec(line)?.[1] ?? table;
    chain = /^\s+chain (\S+) \{/.exec(line)?.[1] ?? chain;
    const hook = /hook (forward|input)\b.*policy drop/.exec(line)?.[1];
    if (hook && !table.endsWith(` ${own}`)) found[hook as 'forward' | 'input'].push(`${table} ${chain}`);
  }
  return found;
}
