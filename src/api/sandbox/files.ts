import { endpoint, type Group } from '../endpoint.ts';
import { binary, fields, ids, int32, model, object, oneOf, t, timestamp } from '../schema.ts';

/** The most that an upload may carry: 256 MB (spec, Limits). */
export const UPLOAD_LIMIT = 256 * 1024 * 1024;

/** A file as the sandbox sees it. */
export const FileInfo = object('FileInfo', {
  path: t.String(),
  type: oneOf('file', 'directory', 'symlink', 'other'),
  size: t.Integer(),
  modified_at: timestamp(),
  created_at: timestamp(),
  owner: t.String(),
  group: t.String(),
  mode: t.Integer({ description: 'The octal mode spelled as a decimal integer: 755.' }),
});

/** Who owns a file and what may be done with it. */
export const FilePermission = model('FilePermission', {
  owner: t.String(),
  group: t.String(),
  mode: t.Integer({
    minimum: 0,
    maximum: 7777,
    description: 'The octal mode spelled as a decimal integer: 755.',
  }),
});

const UploadParts = object('UploadParts', {
  metadata: t.String({ description: 'JSON {path, owner, group, mode} of the file part that follows it.' }),
  file: binary('application/octet-stream'),
});

const Deleted = object('DeletedPaths', { status: t.Literal('deleted') });
const Done = object('FileOperationResponse', { status: t.Literal('ok') });
const paths = fields({ path: t.Array(t.String({ minLength: 1 }), { description: 'In place of the body.' }) });

const here = { spec: 'agents', tag: 'Sandbox files' } as const;

/** Reading and changing the files of a sandbox. */
export const sandboxFiles = {
  GetFileInfo: endpoint({
    ...here,
    spec: 'guide',
    id: 'GetFileInfo',
    method: 'GET',
    path: '/v1/sandbox/{sandboxId}/files/info',
    summary: 'Describe files by path',
    params: ids('sandboxId'),
    query: t.Object({ path: t.Array(t.String({ minLength: 1 }), { minItems: 1 }) }),
    response: t.Record(t.String(), FileInfo),
    access: 'viewer',
    unbuilt: true,
  }),
  DeleteFiles: endpoint({
    ...here,
    spec: 'guide',
    id: 'DeleteFiles',
    method: 'DELETE',
    path: '/v1/sandbox/{sandboxId}/files',
    summary: 'Delete files for good',
    params: ids('sandboxId'),
    query: paths,
    body: model('DeleteFilesRequest', { paths: t.Array(t.String({ minLength: 1 })) }),
    response: Deleted,
    access: 'member',
    unbuilt: true,
  }),
  SetFilePermissions: endpoint({
    ...here,
    spec: 'guide',
    id: 'SetFilePermissions',
    method: 'POST',
    path: '/v1/sandbox/{sandboxId}/files/permissions',
    summary: 'Set owner, group and mode by path',
    params: ids('sandboxId'),
    body: t.Record(t.String(), FilePermission),
    response: Done,
    access: 'member',
    unbuilt: true,
  }),
  MoveFiles: endpoint({
    ...here,
    spec: 'guide',
    id: 'MoveFiles',
    method: 'POST',
    path: '/v1/sandbox/{sandboxId}/files/mv',
    summary: 'Move or rename files',
    params: ids('sandboxId'),
    body: t.Array(object('FileMove', { src: t.String({ minLength: 1 }), dest: t.String({ minLength: 1 }) }), {
      minItems: 1,
    }),
    response: Done,
    access: 'member',
    unbuilt: true,
  }),
  ReplaceInFiles: endpoint({
    ...here,
    spec: 'guide',
    id: 'ReplaceInFiles',
    method: 'POST',
    path: '/v1/sandbox/{sandboxId}/files/replace',
    summary: 'Replace text in files by path',
    params: ids('sandboxId'),
    query: fields({ verbose: t.Boolean() }),
    body: t.Record(
      t.String(),
      object('TextReplacement', { old: t.String({ minLength: 1 }), new: t.String() }),
    ),
    response: t.Record(t.String(), object('ReplacedCount', { replacedCount: int32() })),
    access: 'member',
    unbuilt: true,
  }),
  UploadFile: endpoint({
    ...here,
    spec: 'guide',
    id: 'UploadFile',
    method: 'POST',
    path: '/v1/sandbox/{sandboxId}/files/upload',
    summary: 'Write files, each as a metadata part and a file part',
    params: ids('sandboxId'),
    rawBody: 'multipart/form-data',
    body: UploadParts,
    response: Done,
    bodyLimit: UPLOAD_LIMIT,
    access: 'member',
    unbuilt: true,
  }),
  BulkUploadFiles: endpoint({
    ...here,
    spec: 'guide',
    id: 'BulkUploadFiles',
    method: 'POST',
    path: '/v1/sandbox/{sandboxId}/files/bulk-upload',
    summary: 'Write many files at once, 256 MB together',
    params: ids('sandboxId'),
    rawBody: 'multipart/form-data',
    body: UploadParts,
    response: object('BulkUploadResponse', {
      status: t.Literal('uploaded'),
      files: t.Array(object('UploadedFile', { path: t.String(), size: t.Integer() })),
    }),
    bodyLimit: UPLOAD_LIMIT,
    access: 'member',
    unbuilt: true,
  }),
  DownloadFile: endpoint({
    ...here,
    spec: 'guide',
    id: 'DownloadFile',
    method: 'GET',
    path: '/v1/sandbox/{sandboxId}/files/download',
    summary: 'Read a file, a range of it, or some of its lines',
    params: ids('sandboxId'),
    headers: fields({ range: t.String() }),
    query: object(
      'DownloadOptions',
      { path: t.String({ minLength: 1 }) },
      {
        offset: int32({ minimum: 1, description: 'First line, from 1.' }),
        limit: int32({ minimum: 1, description: 'Number of lines.' }),
      },
    ),
    response: binary('application/octet-stream', 'text/plain'),
    stream: 'bytes',
    access: 'viewer',
    unbuilt: true,
  }),
  CreateDirectories: endpoint({
    ...here,
    spec: 'guide',
    id: 'CreateDirectories',
    method: 'POST',
    path: '/v1/sandbox/{sandboxId}/directories',
    summary: 'Make directories by path',
    params: ids('sandboxId'),
    body: t.Record(t.String(), FilePermission),
    response: Done,
    access: 'member',
    unbuilt: true,
  }),
  DeleteDirectories: endpoint({
    ...here,
    spec: 'guide',
    id: 'DeleteDirectories',
    method: 'DELETE',
    path: '/v1/sandbox/{sandboxId}/directories',
    summary: 'Delete directories and what is in them',
    params: ids('sandboxId'),
    query: paths,
    body: model('DeleteDirectoriesRequest', { paths: t.Array(t.String({ minLength: 1 })) }),
    response: Deleted,
    access: 'member',
    unbuilt: true,
  }),
  SearchFileContents: endpoint({
    ...here,
    spec: 'guide',
    id: 'SearchFileContents',
    method: 'GET',
    path: '/v1/sandbox/{sandboxId}/files/content-search',
    summary: 'Search the contents of files',
    params: ids('sandboxId'),
    query: t.Object({ pattern: t.String({ minLength: 1 }), path: t.String({ minLength: 1 }) }),
    response: t.Array(object('ContentMatch', { file: t.String(), line: int32(), content: t.String() })),
    access: 'viewer',
    unbuilt: true,
  }),
  GlobalReplace: endpoint({
    ...here,
    spec: 'guide',
    id: 'GlobalReplace',
    method: 'POST',
    path: '/v1/sandbox/{sandboxId}/files/global-replace',
    summary: 'Replace a pattern in all files under a path',
    params: ids('sandboxId'),
    body: object(
      'GlobalReplaceRequest',
      { path: t.String({ minLength: 1 }), pattern: t.String({ minLength: 1 }), replacement: t.String() },
      { dry_run: t.Boolean() },
    ),
    response: t.Array(
      object(
        'GlobalReplaceResult',
        { file: t.String(), success: t.Boolean(), count: int32() },
        { error: t.String() },
      ),
    ),
    access: 'member',
    unbuilt: true,
  }),
} satisfies Group;
