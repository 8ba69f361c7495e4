import { describe, expect, it } from '@jest/globals';
import { routeOf } from './router.js';
import { testSchema } from './test-fixture.js';

const schema = testSchema();
const ID = 'inv_126gymxHhc5q4YJr3L8oWAw7oUjdHHIsNv';

/** Routes as short texts, so that the tables read well. */
function shown(path: string): string {
  const route = routeOf(path, schema);
  switch (route.kind) {
    case 'refused':
      return `${String(route.refusal.status)} ${route.refusal.message}`;
    case 'invoke': {
      const { verb, service, key, handler, scope } = route;
      const place = scope === undefined ? '' : ` in ${scope}`;
      return `${verb} ${service.service.name} ${JSON.stringify(key) ?? '-'} ${handler}${place}`;
    }
    case 'result':
      return `${route.verb} ${JSON.stringify(route.query) ?? 'body'}`;
    case 'awakeable':
      return `${route.verb} ${route.id}`;
    default:
      return route.kind;
  }
}

describe('routes', () => {
  it.each([
    ['/engine/call/Greeter/greet', 'call Greeter - greet'],
    ['/restate/call/Greeter/greet', 'call Greeter - greet'],
    ['/engine/send/Counter/k/add', 'send Counter "k" add'],
    ['/engine/call/Counter//get', 'call Counter "" get'],
    ['/engine/call/Counter/a%2Fb/get', 'call Counter "a/b" get'],
    ['/engine/call/Greeter/nope', 'call Greeter - nope'],
    ['/engine/scope/s%41/call/Greeter/greet', 'call Greeter - greet in sA'],
    ['/engine/scope//send/Counter/k/add', 'send Counter "k" add in '],
    ['/Greeter/greet', 'call Greeter - greet'],
    ['/Greeter/greet/send', 'send Greeter - greet'],
    ['/Counter/k/add', 'call Counter "k" add'],
    ['/Counter//add', 'call Counter "" add'],
    ['/Counter/k/add/send', 'send Counter "k" add'],
    ['/Counter/send/send', 'call Counter "send" send'],
    ['/engine/health', 'health'],
    ['/engine/health/x', 'health'],
    ['/engine/lookup', 'lookup'],
    ['/engine/attach', 'attach body'],
    ['/engine/output', 'output body'],
    [`/engine/attach/${ID}`, `attach {"kind":"invocation","id":"${ID}"}`],
    [`/engine/invocation/${ID}/output`, `output {"kind":"invocation","id":"${ID}"}`],
    [
      '/engine/invocation/Greeter/any/i%20k/attach/x',
      'attach {"kind":"idempotent","service":"Greeter","handler":"any","idempotencyKey":"i%20k"}',
    ],
    [
      '/engine/invocation/Counter/k%20/add/ik/output',
      'output {"kind":"idempotent","service":"Counter","key":"k ","handler":"add","idempotencyKey":"ik"}',
    ],
    [
      '/engine/workflow/Any/k%20/attach/more',
      'attach {"kind":"workflow","service":"Any","key":"k "}',
    ],
    ['/engine/awakeables/foo/resolve/x', 'resolve foo'],
    ['/restate/a/foo/reject', 'reject foo'],
  ])('%s', (path, route) => {
    expect(shown(path)).toBe(route);
  });
});

describe('refused paths', () => {
  const shape = '400 bad path, expected';
  it.each([
    ['/', '400 bad path: /'],
    ['/foo', '400 bad path: /foo'],
    ['/engine', '400 bad path: /engine'],
    ['*', '400 bad path: *'],
    ['/a/b/c/d/e/f/g/h', '400 bad path: /a/b/c/d/e/f/g/h'],
    ['/Greeter/greet/more', `${shape} either /:service-name/`],
    ['/Counter/add', `${shape} either /:service-name/`],
    ['/engine/call/Greeter', `${shape} /engine/call/`],
    ['/engine/call/Greeter/greet/send', `${shape} /engine/call/`],
    ['/engine/call/Counter/add', `${shape} /engine/call/`],
    [`/engine/attach/${ID}/more`, `${shape} /engine/call/`],
    ['/engine/lookup/x', `${shape} /engine/call/`],
    [`/engine/scope/s/attach/${ID}`, `${shape} /engine/call/`],
    [`/engine/invocation/${ID}`, `${shape} either /engine/invocation/`],
    ['/engine/workflow/Flow/key', `${shape} either /engine/workflow/`],
    ['/engine/awakeables/foo', `${shape} either /engine/awakeables/`],
    ['/engine/nothing/here', '404 not found'],
    ['/engine/v1/call', '404 not found'],
    ['/openapi/Greeter', '404 not found'],
    [`/engine/invocation/${ID}/cancel`, '404 not found'],
    ['/engine/workflow/Flow/k/cancel', '404 not found'],
    ['/engine/awakeables/foo/forget', '404 not found'],
    ['/engine/call/greeter/greet', "404 service 'greeter' not found, make sure"],
    ['/engine/call/%47reeter/greet', "404 service '%47reeter' not found"],
    ['/Nobody/greet', "404 service 'Nobody' not found"],
    ['/engine/invocation/Nobody/greet/ik/output', "404 service 'Nobody' not found"],
    [`/engine/invocation/${ID}/attach/x`, `404 service '${ID}' not found`],
    ['/engine/call/Counter/%FF/get', '400 bad path, cannot decode key'],
    ['/engine/scope/%FF/call/Greeter/greet', '400 bad path, cannot decode scope'],
    ['/engine/attach/foo', "400 bad invocation id 'foo': bad format"],
    [
      '/engine/attach/xyz_1abc',
      "400 bad invocation id 'xyz_1abc': unrecognized resource type: xyz",
    ],
    ['/engine/output/inv_foo', "400 bad invocation id 'inv_foo': unrecognized codec version"],
  ])('%s', (path, start) => {
    expect(shown(path).slice(0, start.length)).toBe(start);
  });
});
