import { endpoint, type Group } from '../endpoint.ts';
import { binary, fields, ids, int32, model, object, oneOf, t, timestamp } from '../schema.ts';

/** The most that an upload may carry: 256 MB (spec, Limits). */
export const UPLOAD_LIMIT = 256 * 1024 * 1024;

/** A file as the sandbox sees it. */
export const FileInfo = object(
  'FileInfo',
  {
    path: t.String(),
    type: oneOf('file', 'directory', 'symlink', 'other'),
    size: t.Integer(),
    modified_at: timestamp(),
    created_at: timestamp(),
    owner: t.String(),
    group: t.String(),
    mode: t.Integer({ description: 'The octal mode spelled as a decimal integer: 755.' }),
  },
  { target: t.String({ description: 'Where a symlink points.' }) },
);

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
  }),
  DownloadFile: endpoint({
    ...here,
    spec: 'guide',
    id: 'DownloadFile',
    method: 'GET',
    path: '/v1/sandbox/{sandboxId}/files/download',
    summary: 'Read a file, a range of it, some of its lines, or a directory as a tar archive',
    params: ids('sandboxId'),
    headers: fields({ range: t.String() }),
    query: object(
      'DownloadOptions',
      { path: t.String({ minLength: 1 }) },
      {
        offset: int32({ minimum: 1, description: 'First line, from 1.' }),
        limit: int32({ minimum: 1, description: 'Number of lines.' }),
        format: oneOf('tar'),
      },
    ),
    response: binary('application/octet-stream', 'text/plain', 'application/x-tar'),
    stream: 'bytes',
    access: 'viewer',
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
  }),
  ListDirectory: endpoint({
    ...here,
    spec: 'extra',
    id: 'ListDirectory',
    method: 'GET',
    path: '/v1/sandbox/{sandboxId}/directories',
    summary: 'List what is in a directory, sorted by path',
    params: ids('sandboxId'),
    query: object(
      'ListDirectoryOptions',
      { path: t.String({ minLength: 1 }) },
      {
        depth: int32({
          minimum: 1,
          maximum: 50,
          description: 'Directories below each other; 1 when absent.',
        }),
        offset: int32({ minimum: 0 }),
        limit: int32({ minimum: 1, maximum: 10_000, description: '1000 when absent.' }),
      },
    ),
    response: object('DirectoryListing', { entries: t.Array(FileInfo), total: t.Integer() }),
    access: 'viewer',
  }),
  SearchFiles: endpoint({
    ...here,
    spec: 'extra',
    id: 'SearchFiles',
    method: 'GET',
    path: '/v1/sandbox/{sandboxId}/files/search',
    summary: 'Find files by a glob of their names',
    params: ids('sandboxId'),
    query: t.Object({
      path: t.String({ minLength: 1 }),
      pattern: t.String({ minLength: 1, maxLength: 256 }),
    }),
    response: t.Array(FileInfo),
    access: 'viewer',
  }),
  WriteFile: endpoint({
    ...here,
    spec: 'extra',
    id: 'WriteFile',
    method: 'PUT',
    path: '/v1/sandbox/{sandboxId}/files/content',
    summary: 'Write a file from the body, or a piece of one at an offset',
    params: ids('sandboxId'),
    query: object(
      'WriteFileOptions',
      { path: t.String({ minLength: 1 }) },
      {
        mode: t.Integer({ minimum: 0, maximum: 7777, description: 'The octal mode, such as 755.' }),
        owner: t.String(),
        group: t.String(),
        offset: t.Integer({
          minimum: 0,
          maximum: 2 ** 50,
          description: 'Writes there, into the file that is there.',
        }),
      },
    ),
    rawBody: 'application/octet-stream',
    body: binary('application/octet-stream'),
    response: object('WrittenFile', { path: t.String(), size: t.Integer() }),
    bodyLimit: UPLOAD_LIMIT,
    access: 'member',
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
  }),
} satisfies Group;
