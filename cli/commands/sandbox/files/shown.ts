import { formatBytes } from '../../../../src/kit/bytes.ts';
import type { Cli } from '../../../cli.ts';
import type { RemoteFile } from '../../../copy/remote.ts';
import { showList } from '../../../ui/show.ts';
import { relativeTime } from '../../../ui/time.ts';

const KINDS = { file: '-', directory: 'd', symlink: 'l', other: '?' } as const;

/** Text of a sandbox as it may be shown: it cannot steer the terminal, or end its line. */
export function shownText(text: string): string {
  return text.replace(/\p{Cc}/gu, '?');
}

/** Shows files as a list. */
export function showFiles(cli: Cli, rows: readonly RemoteFile[], none: string): void {
  showList(cli, {
    rows,
    none,
    columns: [
      { title: 'MODE', text: ({ type, mode }) => `${KINDS[type]} ${String(mode).padStart(3, '0')}` },
      { title: 'OWNER', text: ({ owner }) => shownText(owner) },
      {
        title: 'SIZE',
        text: ({ size }) => formatBytes(size),
        raw: ({ size }) => String(size),
        align: 'right',
      },
      { title: 'CHANGED', text: (row) => relativeTime(row.modified_at), raw: (row) => row.modified_at },
      {
        title: 'PATH',
        text: ({ path, target }) => shownText(target === undefined ? path : `${path} -> ${target}`),
      },
    ],
  });
}
