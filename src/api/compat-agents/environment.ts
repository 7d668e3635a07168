import { nullable, object, oneOf, open, stringMap, t } from '../schema.ts';

const strings = t.Array(t.String());

const EnvironmentNetwork = open(
  'EnvironmentNetwork',
  { access: oneOf('enabled', 'disabled', 'restricted') },
  { allowed_domains: nullable(strings), blocked_domains: nullable(strings) },
);

const EnvironmentPackages = open(
  'EnvironmentPackages',
  {},
  { npm: nullable(strings), python: nullable(strings), system: nullable(strings) },
);

const CapabilitySource = open('CapabilitySource', {
  type: t.Literal('base64'),
  media_type: t.Literal('application/zip'),
  data: t.String({ format: 'byte' }),
});

const EnvironmentFile = open(
  'EnvironmentFile',
  { type: oneOf('file_id', 'inline'), path: t.String() },
  { file_id: t.String(), data: t.String({ format: 'byte' }) },
);

const EnvironmentSkill = open(
  'EnvironmentSkill',
  { type: oneOf('skill_reference', 'inline') },
  {
    skill_id: t.String(),
    version: nullable(t.String()),
    name: t.String(),
    description: t.String(),
    source: CapabilitySource,
  },
);

const EnvironmentPlugin = open('EnvironmentPlugin', {
  type: t.Literal('inline'),
  name: t.String(),
  description: t.String(),
  source: CapabilitySource,
});

const type = oneOf('none', 'openai_hosted', 'self_hosted');
const shared = {
  capability_directories: nullable(strings),
  container_size: nullable(oneOf('small', 'medium', 'large')),
  desktop: nullable(open('EnvironmentDesktop', { enabled: t.Boolean() })),
  network: nullable(EnvironmentNetwork),
  packages: nullable(EnvironmentPackages),
  workspace_directory: t.String(),
};

/** Where an agent works: nowhere, in a sandbox of this instance (`openai_hosted` to stock clients), or elsewhere. */
export const EnvironmentRequest = open(
  'EnvironmentRequest',
  { type },
  {
    ...shared,
    environment_id: t.String({ description: 'Id or name of a sandbox that is there already.' }),
    environment_template_id: t.String({ description: 'Id or slug of a sandbox template.' }),
    env: nullable(stringMap()),
    files: nullable(t.Array(EnvironmentFile)),
    setup_commands: nullable(
      t.Array(open('SetupCommand', { command: t.String() }, { cwd: nullable(t.String()) })),
    ),
    skills: nullable(t.Array(EnvironmentSkill)),
    plugins: nullable(t.Array(EnvironmentPlugin)),
  },
);

const EnvironmentCapability = open('EnvironmentCapability', {
  type: t.String(),
  name: t.String(),
  description: t.String(),
});

/** Where the agent of a session works. */
export const Environment = open(
  'Environment',
  { type },
  {
    ...shared,
    id: t.String(),
    remote_url: t.String(),
    files: t.Array(
      open(
        'EnvironmentFileRecord',
        { id: t.String(), type: t.String(), path: t.String(), size_bytes: t.Integer() },
        { file_id: t.String() },
      ),
    ),
    skills: t.Array(EnvironmentCapability),
    plugins: t.Array(EnvironmentCapability),
  },
);

/** How the environment of a session stands. */
export const EnvironmentState = object('AgentSessionEnvironmentState', {
  id: t.String(),
  type: t.String(),
  status: oneOf('pending', 'ready', 'connected', 'disconnected', 'suspended', 'expired', 'failed'),
  error: nullable(object('EnvironmentError', { type: t.String(), code: t.String(), message: t.String() })),
});
