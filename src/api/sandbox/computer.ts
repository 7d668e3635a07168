import { endpoint, type Group } from '../endpoint.ts';
import { binary, ids, int32, model, object, oneOf, t } from '../schema.ts';

const point = { x: int32({ minimum: 0 }), y: int32({ minimum: 0 }) };
const area = { x: int32(), y: int32(), width: int32(), height: int32() };
const Done = object('ComputerActionResponse', { success: t.Boolean() });

const here = { spec: 'guide', tag: 'Computer use' } as const;

/** Seeing and driving the desktop of a sandbox. */
export const sandboxComputer = {
  GetComputerCapabilities: endpoint({
    ...here,
    id: 'GetComputerCapabilities',
    method: 'GET',
    path: '/v1/sandbox/{sandboxId}/computer',
    summary: 'Tell what the desktop of a sandbox can do',
    params: ids('sandboxId'),
    response: object(
      'ComputerCapabilities',
      {
        available: t.Boolean(),
        features: t.Array(oneOf('screenshot', 'mouse', 'keyboard', 'windows', 'recording', 'vnc')),
      },
      { display: t.String(), width: int32(), height: int32(), message: t.String() },
    ),
    access: 'viewer',
    unbuilt: true,
  }),
  TakeScreenshot: endpoint({
    ...here,
    id: 'TakeScreenshot',
    method: 'POST',
    path: '/v1/sandbox/{sandboxId}/computer/screenshot',
    summary: 'Take a picture of the screen',
    params: ids('sandboxId'),
    body: model('ScreenshotRequest', {
      format: oneOf('jpeg', 'png'),
      quality: int32({ minimum: 1, maximum: 100 }),
    }),
    response: binary('image/jpeg', 'image/png'),
    stream: 'bytes',
    access: 'member',
    unbuilt: true,
  }),
  ListDisplays: endpoint({
    ...here,
    id: 'ListDisplays',
    method: 'GET',
    path: '/v1/sandbox/{sandboxId}/computer/displays',
    summary: 'List the displays',
    params: ids('sandboxId'),
    response: object('ListDisplaysResponse', {
      displays: t.Array(object('Display', { id: t.String(), ...area, isActive: t.Boolean() })),
    }),
    access: 'viewer',
    unbuilt: true,
  }),
  ListWindows: endpoint({
    ...here,
    id: 'ListWindows',
    method: 'GET',
    path: '/v1/sandbox/{sandboxId}/computer/windows',
    summary: 'List the windows',
    params: ids('sandboxId'),
    response: object('ListWindowsResponse', {
      windows: t.Array(
        object('Window', { id: t.String(), title: t.String(), ...area, isActive: t.Boolean() }),
      ),
    }),
    access: 'viewer',
    unbuilt: true,
  }),
  ClickMouse: endpoint({
    ...here,
    id: 'ClickMouse',
    method: 'POST',
    path: '/v1/sandbox/{sandboxId}/computer/mouse/click',
    summary: 'Click at a point',
    params: ids('sandboxId'),
    body: object('MouseClick', point, { button: oneOf('left', 'middle', 'right'), double: t.Boolean() }),
    response: Done,
    access: 'member',
    unbuilt: true,
  }),
  MoveMouse: endpoint({
    ...here,
    id: 'MoveMouse',
    method: 'POST',
    path: '/v1/sandbox/{sandboxId}/computer/mouse/move',
    summary: 'Move the pointer to a point',
    params: ids('sandboxId'),
    body: object('MouseMove', point),
    response: Done,
    access: 'member',
    unbuilt: true,
  }),
  ScrollMouse: endpoint({
    ...here,
    id: 'ScrollMouse',
    method: 'POST',
    path: '/v1/sandbox/{sandboxId}/computer/mouse/scroll',
    summary: 'Scroll at a point',
    params: ids('sandboxId'),
    body: object(
      'MouseScroll',
      { ...point, direction: oneOf('up', 'down', 'left', 'right') },
      { amount: int32({ minimum: 1, maximum: 100 }) },
    ),
    response: Done,
    access: 'member',
    unbuilt: true,
  }),
  DragMouse: endpoint({
    ...here,
    id: 'DragMouse',
    method: 'POST',
    path: '/v1/sandbox/{sandboxId}/computer/mouse/drag',
    summary: 'Drag from a point to another',
    params: ids('sandboxId'),
    body: object('MouseDrag', { from: object('Point', point), to: object('Point', point) }),
    response: Done,
    access: 'member',
    unbuilt: true,
  }),
  TypeText: endpoint({
    ...here,
    id: 'TypeText',
    method: 'POST',
    path: '/v1/sandbox/{sandboxId}/computer/keyboard/type',
    summary: 'Type text',
    params: ids('sandboxId'),
    body: object('TypeTextRequest', { text: t.String({ minLength: 1 }) }),
    response: Done,
    access: 'member',
    unbuilt: true,
  }),
  PressKey: endpoint({
    ...here,
    id: 'PressKey',
    method: 'POST',
    path: '/v1/sandbox/{sandboxId}/computer/keyboard/key',
    summary: 'Press a key or a combination of keys',
    params: ids('sandboxId'),
    body: object('PressKeyRequest', {
      key: t.String({ minLength: 1, description: 'A combination such as ctrl+shift+t.' }),
    }),
    response: Done,
    access: 'member',
    unbuilt: true,
  }),
} satisfies Group;
