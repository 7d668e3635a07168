import { endpoint, type Group } from '../endpoint.ts';
import { ids, int32, int64, model, stringMap, t } from '../schema.ts';

/** A ready configuration to start sandboxes from. */
export const SandboxTemplate = model('SandboxTemplate', {
  id: t.String(),
  name: t.String(),
  slug: t.String(),
  description: t.String(),
  icon: t.String(),
  iconColor: t.String(),
  image: t.String(),
  cpuLimit: t.Number(),
  memoryMb: int64(),
  diskMb: int64(),
  timeoutSeconds: int32(),
  networkMode: t.String(),
  envVars: stringMap(),
  workDir: t.String(),
  tags: t.Array(t.String()),
});

const here = { spec: 'agents', tag: 'Sandbox templates' } as const;

/** Ready configurations to start sandboxes from. */
export const sandboxTemplates = {
  ListSandboxTemplates: endpoint({
    ...here,
    id: 'ListSandboxTemplates',
    method: 'GET',
    path: '/v1/sandbox/templates',
    summary: 'List the templates',
    response: model('ListSandboxTemplatesResponse', { templates: t.Array(SandboxTemplate) }),
    access: 'viewer',
  }),
  GetSandboxTemplate: endpoint({
    ...here,
    id: 'GetSandboxTemplate',
    method: 'GET',
    path: '/v1/sandbox/templates/{templateId}',
    summary: 'Get a template by id or slug',
    params: ids('templateId'),
    response: model('GetSandboxTemplateResponse', { template: SandboxTemplate }),
    access: 'viewer',
  }),
} satisfies Group;
