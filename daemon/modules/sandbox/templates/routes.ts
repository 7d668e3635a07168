import type { SandboxTemplate } from '../../../../src/api/sandbox/templates.ts';
import { sandboxTemplates } from '../../../../src/api/sandbox/templates.ts';
import type { Value } from '../../../../src/api/schema.ts';
import { implement, type Route } from '../../../http/route.ts';
import { findTemplate, TEMPLATES, type Template } from './catalog.ts';

/** The operations on templates. */
export function templateRoutes(): Route[] {
  return implement(sandboxTemplates, {
    ListSandboxTemplates: () => ({ templates: TEMPLATES.map(toWire) }),
    GetSandboxTemplate: ({ params }) => ({ template: toWire(findTemplate(params.templateId)) }),
  });
}

function toWire(template: Template): Value<typeof SandboxTemplate> {
  const { slug, cpu, memoryMb, env, tags, ...rest } = template;
  return {
    ...rest,
    id: slug,
    slug,
    cpuLimit: cpu,
    memoryMb: String(memoryMb),
    networkMode: 'allow',
    envVars: env,
    workDir: '/workspace',
    tags: [...tags],
  };
}
