import type { CatalogEntry } from './entry.ts';
import { family, OPEN_WEIGHTS, TALK, TOOLS, VISION } from './families.ts';

/** Clouds that offer makers' models under their own accounts. */
export const clouds: readonly CatalogEntry[] = [
  {
    name: 'azure',
    displayName: 'Azure OpenAI',
    description: 'Models that are deployed in an Azure resource',
    dialect: 'azure',
    baseUrl: '',
    apiVersion: 'v1',
    capabilities: [...TALK, ...TOOLS, ...VISION, 'completions', 'embeddings', 'fineTuning', 'assistants'],
    variables: {
      key: ['AZURE_OPENAI_API_KEY'],
      baseUrl: ['AZURE_OPENAI_ENDPOINT'],
      settings: { api_version: ['AZURE_OPENAI_API_VERSION', 'OPENAI_API_VERSION'] },
    },
    needsKey: true,
    type: 'static',
    modelsPath: '/models',
    families: [
      family('GPT', 'Text and pictures, by OpenAI', /^(gpt|o\d)/, 'chat', 'vision', 'functionCalling'),
      family('Embeddings', 'Texts as vectors', /embedding/, 'embeddings'),
      ...OPEN_WEIGHTS,
    ],
  },
  {
    name: 'bedrock',
    displayName: 'Amazon Bedrock',
    description: 'Models of many makers in an AWS account',
    dialect: 'bedrock',
    baseUrl: 'https://bedrock-runtime.{region}.amazonaws.com',
    apiVersion: '',
    capabilities: [...TALK, ...TOOLS, ...VISION, 'embeddings', 'fineTuning'],
    variables: {
      key: ['AWS_BEARER_TOKEN_BEDROCK', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'],
      baseUrl: ['AWS_ENDPOINT_URL_BEDROCK_RUNTIME'],
      settings: { region: ['AWS_REGION', 'AWS_DEFAULT_REGION'] },
    },
    needsKey: true,
    type: 'meta',
    modelsPath: '',
    families: [
      family(
        'Claude',
        'Text and pictures, by Anthropic',
        /anthropic|claude/,
        'chat',
        'vision',
        'functionCalling',
      ),
      family('Nova', 'Text and pictures, by Amazon', /nova/, 'chat', 'vision', 'functionCalling'),
      family('Llama', 'Text and pictures, by Meta', /llama/, 'chat', 'functionCalling'),
      family('Titan embeddings', 'Texts as vectors, by Amazon', /titan-embed/, 'embeddings'),
      family('Cohere embeddings', 'Texts as vectors, by Cohere', /cohere\.embed/, 'embeddings'),
      ...OPEN_WEIGHTS,
    ],
  },
  {
    name: 'vertex',
    displayName: 'Google Vertex AI',
    description: 'Gemini models in a Google Cloud project',
    dialect: 'vertex',
    baseUrl: 'https://{location}-aiplatform.googleapis.com/v1',
    apiVersion: 'v1',
    capabilities: [...TALK, ...TOOLS, ...VISION, 'embeddings', 'fineTuning'],
    variables: {
      key: ['GOOGLE_APPLICATION_CREDENTIALS'],
      settings: {
        project: ['GOOGLE_CLOUD_PROJECT', 'GOOGLE_VERTEX_PROJECT'],
        location: ['GOOGLE_CLOUD_LOCATION', 'GOOGLE_VERTEX_LOCATION'],
      },
    },
    needsKey: true,
    type: 'static',
    modelsPath: '',
    families: [
      family('Embeddings', 'Texts as vectors', /embedding/, 'embeddings'),
      family('Claude', 'Text and pictures, by Anthropic', /claude/, 'chat', 'vision', 'functionCalling'),
      family('Gemini', 'Text and pictures', /^gemini/, 'chat', 'vision', 'functionCalling', 'reasoning'),
    ],
  },
];
