import { t } from '../../../../../src/api/schema.ts';
import { formatBytes, KIB } from '../../../../../src/kit/bytes.ts';
import { declareTool } from '../declare.ts';
import { inPlace } from '../sandbox/files.ts';
import { pathIn } from '../sandbox/home.ts';
import type { SandboxParts } from '../sandbox/index.ts';
import { done, failed, type Tool, type ToolContext } from '../tool.ts';
import { afterOrAt, beforeOrAt } from './capped.ts';
import { mediaTypeOf } from './media-type.ts';
import type { ArtifactService } from './service.ts';
import type { ArtifactRow } from './tables.ts';

/** Bytes that one reading gives: below what a result may have. */
const MOST_READ = 28 * KIB;
const DEFAULT_READ = 16 * KIB;
/** A file with a NUL this early is no text. */
const LOOKED_AT = 8 * KIB;

/** The tools over the artifacts of a session. */
export function artifactTools(artifacts: ArtifactService, parts: SandboxParts): Tool[] {
  return [
    uploadTool(artifacts, parts),
    downloadTool(artifacts, parts),
    listTool(artifacts),
    readTool(artifacts),
  ];
}

function uploadTool(artifacts: ArtifactService, parts: SandboxParts): Tool {
  type Args = { path: string; name?: string };
  const run = ({ path, name }: Args, context: ToolContext) =>
    inPlace(parts, context, async (place, where) => {
      context.note('again');
      const absolute = pathIn(place, path);
      const called = name || absolute.slice(absolute.lastIndexOf('/') + 1);
      const content = parts.own.files.read(where, absolute);
      const { tenant } = context.caller;
      const owner = { tenant, sessionId: context.sessionId, callId: context.callId };
      const row = await artifacts.upload(owner, called, mediaTypeOf(called), content);
      return done(`Kept as artifact ${row.id} (${row.name}, ${formatBytes(row.size)}).`);
    });
  return declareTool({
    name: 'upload_artifact',
    description:
      'Keeps a file of your sandbox as an artifact of the session: people can download it, and it outlives the sandbox.',
    parameters: t.Object({
      path: t.String({ minLength: 1 }),
      name: t.Optional(t.String({ maxLength: 255, description: 'The name of the file when absent.' })),
    }),
    run,
    recover: run,
  });
}

function downloadTool(artifacts: ArtifactService, parts: SandboxParts): Tool {
  type Args = { artifactId: string; path: string };
  const run = ({ artifactId, path }: Args, context: ToolContext) =>
    inPlace(parts, context, async (place, where) => {
      context.note('again');
      const row = artifacts.get(context.caller.tenant, context.sessionId, artifactId);
      const absolute = pathIn(place, path);
      const size = await parts.own.files.write(where, absolute, slowly(artifacts.read(row)));
      return done(`Wrote ${size} bytes to ${absolute}.`);
    });
  return declareTool({
    name: 'download_artifact',
    description: 'Writes an artifact of the session into a file of your sandbox.',
    parameters: t.Object({ artifactId: t.String({ minLength: 1 }), path: t.String({ minLength: 1 }) }),
    run,
    recover: run,
  });
}

function listTool(artifacts: ArtifactService): Tool {
  return declareTool({
    name: 'list_artifacts',
    description: 'Lists the artifacts of the session, newest first: id, size, name.',
    isRead: true,
    isParallel: true,
    parameters: t.Object({}),
    async run(_, { caller, sessionId }) {
      const rows = artifacts.list(caller.tenant, sessionId);
      if (rows.length === 0) return done('The session has no artifacts.');
      return done(rows.map(({ id, size, name }) => `${id} ${formatBytes(size)} ${name}`).join('\n'));
    },
  });
}

function readTool(artifacts: ArtifactService): Tool {
  return declareTool({
    name: 'read_artifact',
    description: 'Reads a text artifact of the session, a part at a time.',
    isRead: true,
    isParallel: true,
    parameters: t.Object({
      artifactId: t.String({ minLength: 1 }),
      offset: t.Optional(t.Integer({ minimum: 0, description: 'First byte, from 0.' })),
      limit: t.Optional(
        t.Integer({
          minimum: 1,
          maximum: MOST_READ,
          description: `How many bytes. Default ${DEFAULT_READ}.`,
        }),
      ),
    }),
    async run({ artifactId, offset = 0, limit = DEFAULT_READ }, { caller, sessionId }) {
      const row = artifacts.get(caller.tenant, sessionId, artifactId);
      if (isBinary(artifacts, row)) return failed(`${row.name} is no text; use download_artifact.`);
      if (offset >= row.size && row.size > 0)
        return failed(`The artifact has ${row.size} bytes; there is no byte ${offset}.`);
      return done(windowOf(artifacts, row, offset, limit));
    },
  });
}

/** Whole characters of a text artifact, and where to go on. */
function windowOf(artifacts: ArtifactService, row: ArtifactRow, offset: number, limit: number): string {
  const parts: Uint8Array[] = [];
  let held = 0;
  for (const part of artifacts.read(row, offset)) {
    parts.push(part);
    held += part.length;
    if (held > limit) break;
  }
  const bytes = Buffer.concat(parts);
  const from = afterOrAt(bytes, 0);
  const to = Math.max(beforeOrAt(bytes, limit), afterOrAt(bytes, from + 1));
  const end = offset + to;
  const next = end < row.size ? `; go on with offset ${end}` : '';
  return `${bytes.toString('utf8', from, to)}\n(bytes ${offset + from}-${end} of ${row.size}${next})`;
}

function isBinary(artifacts: ArtifactService, row: ArtifactRow): boolean {
  const [first] = artifacts.read(row);
  return first?.subarray(0, LOOKED_AT).includes(0) ?? false;
}

/** Lets others in between two parts. */
async function* slowly(parts: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for (const part of parts) {
    yield part;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
