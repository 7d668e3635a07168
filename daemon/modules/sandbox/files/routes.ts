import { sandboxFiles, UPLOAD_LIMIT } from '../../../../src/api/sandbox/files.ts';
import { type Call, implement, type Route } from '../../../http/route.ts';
import type { FileOperations, Permission, Where } from './operations.ts';
import { readMode } from './paths.ts';

/** Tells that a search found more than it answers. */
const CUT_HEADER = 'x-svc-truncated';
const PAGE = 1_000;

/** The operations on files and directories. */
export function fileRoutes(operations: FileOperations): Route[] {
  return implement(sandboxFiles, {
    GetFileInfo: async (call) => {
      const found = await operations.info(whereOf(call), call.query.path);
      return Object.fromEntries(found.map((one, i) => [call.query.path[i] ?? one.path, one]));
    },
    DeleteFiles: async (call) => {
      await operations.removeFiles(whereOf(call), [...(call.body.paths ?? []), ...(call.query.path ?? [])]);
      return { status: 'deleted' as const };
    },
    SetFilePermissions: async (call) => {
      await operations.setPermissions(whereOf(call), permissionsOf(call.body));
      return { status: 'ok' as const };
    },
    MoveFiles: async (call) => {
      await operations.move(whereOf(call), call.body);
      return { status: 'ok' as const };
    },
    ReplaceInFiles: async (call) => {
      const counts = await operations.replace(whereOf(call), call.body);
      if (!call.query.verbose) return {};
      return Object.fromEntries(
        Object.entries(counts).map(([path, replacedCount]) => [path, { replacedCount }]),
      );
    },
    UploadFile: async (call) => {
      await operations.upload(whereOf(call), call.request, UPLOAD_LIMIT);
      return { status: 'ok' as const };
    },
    BulkUploadFiles: async (call) => ({
      status: 'uploaded' as const,
      files: await operations.upload(whereOf(call), call.request, UPLOAD_LIMIT),
    }),
    WriteFile: async (call) => {
      const { path, mode, owner, group, offset } = call.query;
      const target = { path, mode: mode === undefined ? undefined : readMode('mode', mode), owner, group };
      const size = await operations.put(whereOf(call), target, offset, call.request.body, UPLOAD_LIMIT);
      return { path, size };
    },
    DownloadFile: async (call) => {
      const { path, offset, limit, format } = call.query;
      const isWindow = offset !== undefined || limit !== undefined;
      return operations.download(whereOf(call), {
        path,
        lines: isWindow ? { offset: offset ?? 1, limit } : undefined,
        tar: format === 'tar',
        range: call.request.headers.get('range'),
        ifNoneMatch: call.request.headers.get('if-none-match'),
        signal: call.signal,
      });
    },
    CreateDirectories: async (call) => {
      await operations.makeDirectories(whereOf(call), permissionsOf(call.body));
      return { status: 'ok' as const };
    },
    DeleteDirectories: async (call) => {
      const paths = [...(call.body.paths ?? []), ...(call.query.path ?? [])];
      await operations.removeDirectories(whereOf(call), paths);
      return { status: 'deleted' as const };
    },
    ListDirectory: async (call) => {
      const { path, depth = 1, offset = 0, limit = PAGE } = call.query;
      return operations.list(whereOf(call), path, depth, { offset, limit });
    },
    SearchFiles: async (call) => {
      const { path, pattern } = call.query;
      const { files, isCut } = await operations.find(whereOf(call), path, pattern, call.signal);
      if (isCut) call.headers.set(CUT_HEADER, 'true');
      return files;
    },
    SearchFileContents: async (call) => {
      const { matches, isCut } = await operations.search(whereOf(call), call.query, call.signal);
      if (isCut) call.headers.set(CUT_HEADER, 'true');
      return [...matches];
    },
    GlobalReplace: async (call) => {
      const { path, pattern, replacement, dry_run: dryRun = false } = call.body;
      const options = { dryRun, signal: call.signal };
      return operations.replaceBelow(whereOf(call), path, { old: pattern, new: replacement }, options);
    },
  });
}

function whereOf({ caller, params }: Pick<Call, 'caller'> & { params: { sandboxId: string } }): Where {
  return { tenant: caller.tenant, sandbox: params.sandboxId };
}

function permissionsOf(
  body: Readonly<
    Record<string, { readonly mode?: number; readonly owner?: string; readonly group?: string }>
  >,
): Map<string, Permission> {
  return new Map(
    Object.entries(body).map(([path, { mode, owner, group }]) => [
      path,
      { owner, group, mode: mode === undefined ? undefined : readMode(`${path}.mode`, mode) },
    ]),
  );
}
