import type { Endpoint } from '../../../src/api/endpoint.ts';
import type { Cli } from '../../cli.ts';
import { showJson, showList } from '../../ui/show.ts';

/** Lists the operations of the contract; no daemon is asked. */
export async function showOperations(
  cli: Cli,
  { unbuilt: onlyUnbuilt, json }: { unbuilt?: true; json?: true },
): Promise<undefined> {
  const { operations, unbuilt } = await import('../../../src/api/index.ts');
  const rows = onlyUnbuilt ? unbuilt() : operations;
  if (json) {
    showJson(
      cli,
      rows.map(({ method, path, id, spec, summary, access, unbuilt }) => ({
        method,
        path,
        id,
        spec,
        summary,
        access,
        built: !unbuilt,
      })),
    );
    return undefined;
  }
  showList<Endpoint>(cli, {
    rows,
    none: 'Every operation is built.',
    columns: [
      { title: 'METHOD', text: ({ method }) => method },
      { title: 'PATH', text: ({ path }) => path },
      { title: 'ID', text: ({ id }) => id },
      { title: 'SPEC', text: ({ spec }) => spec },
      { title: 'SUMMARY', text: ({ summary }) => summary },
    ],
  });
  return undefined;
}
