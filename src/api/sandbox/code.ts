import { endpoint, type Group } from '../endpoint.ts';
import { fields, ids, int32, model, object, t } from '../schema.ts';
import { ExecutionEvent } from './command.ts';

/** An interpreter that keeps its variables between runs. */
export const CodeContext = object('CodeContext', { id: t.String(), language: t.String() });

const DeletedContexts = object('DeletedCodeContexts', { deleted: int32({ minimum: 0 }) });

const here = { spec: 'agents', tag: 'Sandbox code' } as const;

/** Running code in contexts that keep their variables. */
export const sandboxCode = {
  CreateCodeContext: endpoint({
    ...here,
    spec: 'guide',
    id: 'CreateCodeContext',
    method: 'POST',
    path: '/v1/sandbox/{sandboxId}/code/context',
    summary: 'Open a context that keeps its variables between runs',
    params: ids('sandboxId'),
    body: object('CreateCodeContextRequest', { language: t.String({ minLength: 1 }) }),
    response: CodeContext,
    access: 'member',
  }),
  ListCodeContexts: endpoint({
    ...here,
    spec: 'guide',
    id: 'ListCodeContexts',
    method: 'GET',
    path: '/v1/sandbox/{sandboxId}/code/contexts',
    summary: 'List the contexts of a sandbox',
    params: ids('sandboxId'),
    query: fields({ language: t.String() }),
    response: t.Array(CodeContext),
    access: 'viewer',
  }),
  GetCodeContext: endpoint({
    ...here,
    spec: 'guide',
    id: 'GetCodeContext',
    method: 'GET',
    path: '/v1/sandbox/{sandboxId}/code/contexts/{contextId}',
    summary: 'Get a context',
    params: ids('sandboxId', 'contextId'),
    response: CodeContext,
    access: 'viewer',
  }),
  DeleteCodeContext: endpoint({
    ...here,
    spec: 'guide',
    id: 'DeleteCodeContext',
    method: 'DELETE',
    path: '/v1/sandbox/{sandboxId}/code/contexts/{contextId}',
    summary: 'Close a context',
    params: ids('sandboxId', 'contextId'),
    response: DeletedContexts,
    access: 'member',
  }),
  DeleteCodeContextsByLanguage: endpoint({
    ...here,
    spec: 'guide',
    id: 'DeleteCodeContextsByLanguage',
    method: 'DELETE',
    path: '/v1/sandbox/{sandboxId}/code/contexts',
    summary: 'Close the contexts of a language',
    params: ids('sandboxId'),
    query: t.Object({ language: t.String({ minLength: 1 }) }),
    response: DeletedContexts,
    access: 'member',
  }),
  ExecuteCode: endpoint({
    ...here,
    spec: 'guide',
    id: 'ExecuteCode',
    method: 'POST',
    path: '/v1/sandbox/{sandboxId}/code',
    summary: 'Run code and stream what it prints',
    params: ids('sandboxId'),
    body: object(
      'ExecuteCodeRequest',
      { code: t.String() },
      { context: model('CodeContextChoice', { id: t.String(), language: t.String() }) },
    ),
    response: ExecutionEvent,
    stream: 'sse',
    access: 'member',
  }),
  InterruptCode: endpoint({
    ...here,
    spec: 'guide',
    id: 'InterruptCode',
    method: 'DELETE',
    path: '/v1/sandbox/{sandboxId}/code',
    summary: 'Stop running code',
    params: ids('sandboxId'),
    query: t.Object({ id: t.String({ minLength: 1, description: 'The id of the context.' }) }),
    response: object('InterruptCodeResponse', { id: t.String(), status: t.Literal('interrupted') }),
    access: 'member',
  }),
} satisfies Group;
