import { endpoint, type Group } from '../endpoint.ts';
import { ids, int32, object, oneOf, t } from '../schema.ts';

const language = oneOf('python', 'typescript');
const params = t.Object({ sandboxId: t.String({ minLength: 1 }), lang: language });
const file = t.Object({
  path: t.String({ minLength: 1, description: 'Absolute path of the file in the sandbox.' }),
});

const here = { spec: 'guide', tag: 'Sandbox language intelligence' } as const;

/** Diagnostics and symbols of code in a sandbox. */
export const sandboxLsp = {
  GetLspCapabilities: endpoint({
    ...here,
    id: 'GetLspCapabilities',
    method: 'GET',
    path: '/v1/sandbox/{sandboxId}/lsp',
    summary: 'List the languages and what can be asked about them',
    params: ids('sandboxId'),
    response: object('LspCapabilities', {
      languages: t.Array(
        object(
          'LspLanguage',
          { language, operations: t.Array(t.String()), available: t.Boolean() },
          { reason: t.String({ description: 'Why it is not available.' }) },
        ),
      ),
    }),
    access: 'viewer',
    unbuilt: true,
  }),
  GetLspDiagnostics: endpoint({
    ...here,
    id: 'GetLspDiagnostics',
    method: 'GET',
    path: '/v1/sandbox/{sandboxId}/lsp/{lang}/diagnostics',
    summary: 'Find the errors and warnings of a file',
    params,
    query: file,
    response: t.Array(
      object(
        'LspDiagnostic',
        { line: int32(), severity: oneOf('error', 'warning'), message: t.String() },
        { code: t.String() },
      ),
    ),
    access: 'viewer',
    unbuilt: true,
  }),
  GetLspSymbols: endpoint({
    ...here,
    id: 'GetLspSymbols',
    method: 'GET',
    path: '/v1/sandbox/{sandboxId}/lsp/{lang}/symbols',
    summary: 'List the symbols of a file',
    params,
    query: file,
    response: t.Array(object('LspSymbol', { name: t.String(), kind: t.String(), line: int32() })),
    access: 'viewer',
    unbuilt: true,
  }),
  SearchLspWorkspaceSymbols: endpoint({
    ...here,
    id: 'SearchLspWorkspaceSymbols',
    method: 'GET',
    path: '/v1/sandbox/{sandboxId}/lsp/{lang}/workspace-symbols',
    summary: 'Search the symbols under a path',
    params,
    query: object('SymbolSearch', { query: t.String({ minLength: 1 }) }, { path: t.String() }),
    response: t.Array(object('LspWorkspaceSymbol', { name: t.String(), file: t.String(), line: int32() })),
    access: 'viewer',
    unbuilt: true,
  }),
} satisfies Group;
