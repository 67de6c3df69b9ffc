import { DISKS, disk } from '../disks.ts';
import { recorded, type Step } from '../recorded.ts';

const get = (path: string, headers?: Record<string, string>): Step => [
  'GET',
  path,
  undefined,
  headers,
];
const TEXT = { 'content-type': 'text/plain' };
const query = (text: string): Step[] => [get(`${DISKS}?${text}`)];
const token = (state: object) => Buffer.from(JSON.stringify(state)).toString('base64url');

export const requests = recorded('requests', [DISKS], {
  'no such path': [
    get('/nowhere'),
    get('/api/v2'),
    get('/apis/example.com/v9/disks'),
    get('/apis/nowhere.com'),
  ],
  'no such resource': [
    get('/apis/example.com/v1/tapes'),
    get('/api/v1/tapes/a'),
    ['POST', '/api/v1/tapes', {}],
  ],
  'no such object': [
    get(`${DISKS}/a`),
    get('/api/v1/nodes/a'),
    get('/api/v1/namespaces/default/pods/a'),
  ],
  'in a namespace what is in none': [get('/apis/example.com/v1/namespaces/default/disks')],
  'in none what is in a namespace': [get('/api/v1/pods/a'), ['DELETE', '/api/v1/pods']],
  'methods that are not allowed': [
    ['PUT', DISKS, disk('a')],
    ['PATCH', DISKS, {}, { 'content-type': 'application/merge-patch+json' }],
    ['POST', '/version', {}],
  ],
  'a body of another type': [
    ['POST', DISKS, disk('a'), TEXT],
    ['POST', '/api/v1/nodes', {}, TEXT],
    ['PUT', `${DISKS}/a`, disk('a'), TEXT],
  ],
  'an unaccepted type': [get(DISKS, { accept: 'text/plain' })],
  'a wrong token': [
    get(DISKS, { authorization: 'Bearer x' }),
    get('/readyz', { authorization: 'Bearer x' }),
  ],
  'no token': [get(DISKS, { authorization: '' }), get('/version', { authorization: '' })],
  ...Object.fromEntries(
    [
      'labelSelector=a%20b',
      'labelSelector=a%3D%3D%3Db',
      'labelSelector=a%20in%20b',
      'labelSelector=a%20in%20(b',
      'labelSelector=,',
      'labelSelector=!',
      'labelSelector=a%3D%21',
      'labelSelector=a%20b%2Fc%20in%20(d)',
      'labelSelector=a%3Db%20c',
      'labelSelector=a,',
      'labelSelector=a%3Db,%20',
      'labelSelector=%C3%A9%3D1',
      'labelSelector=!%C3%A9',
      'labelSelector=-a%3D1',
      'labelSelector=a%2Fb%2Fc',
      'labelSelector=a%3D%C3%A9',
      'labelSelector=a%07%3D1',
      'labelSelector=a%20in%20(%C3%A9,b,-c)',
      'labelSelector=k%3Ex',
      'labelSelector=k%3E',
      'labelSelector=k%3E-1',
      'labelSelector=k%3E%C3%A9',
      'labelSelector=k%3E1%3E2',
      'fieldSelector=spec.nodeName%3Dn1',
      'fieldSelector=metadata.name',
      'limit=x',
      'limit=-1',
      'resourceVersion=x',
      'resourceVersion=-1',
      'resourceVersionMatch=Exact',
      'resourceVersionMatch=Exact&resourceVersion=0',
      'resourceVersionMatch=Maybe&resourceVersion=1',
      'resourceVersionMatch=Exact&resourceVersion=1&continue=x',
      'sendInitialEvents=true',
      'watch=1&resourceVersionMatch=NotOlderThan',
      'watch=1&sendInitialEvents=true',
      'watch=1&labelSelector=a%20b',
      'watch=1&timeoutSeconds=x',
      `continue=${token({})}`,
      `continue=${token({ v: 'meta.k8s.io/v1', rv: 0, start: 'a' })}`,
      `continue=${token({ v: 'meta.k8s.io/v1', rv: 1, start: '../a' })}`,
      `continue=${token({ v: 'meta.k8s.io/v1', rv: 1, start: '' })}`,
    ].map((text) => [`query ${text}`, query(text)]),
  ),
  'labels that are compared': [
    ['POST', DISKS, disk('a', { labels: { k: '30', text: 'x' } })],
    ...[
      'k>28',
      'k > 30',
      'k<31',
      'k<9,k',
      'text>1',
      'nope<1',
      'k in(30)',
      'text in (x,)',
      'text notin ()',
    ].flatMap((selector) => query(`limit=2&labelSelector=${encodeURIComponent(selector)}`)),
  ],
  'fields of pods and events': [
    get('/api/v1/pods?fieldSelector=spec.huh%3D1'),
    get('/api/v1/events?fieldSelector=huh%3D1'),
    get('/api/v1/nodes?fieldSelector=spec.nodeName%3D1'),
    get('/api/v1/persistentvolumes?fieldSelector=spec.capacity%3D1'),
  ],
  discovery: [get('/apis/example.com')],
  'access of oneself': [
    [
      'POST',
      '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
      { spec: { resourceAttributes: { verb: 'get', resource: 'pods' } } },
    ],
  ],
});
