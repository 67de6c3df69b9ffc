/**
 * Sentences with parameters in braces: `{device} is in use: {uses}`. Text in brackets is omitted if
 * one of its parameters is absent: `{file} is held by node {node}[ since {since}]`.
 */

/** Names of the parameters of a template. */
type NamesIn<Template extends string> = Template extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamesIn<Rest>
  : never;

/** Template without its bracketed parts. */
type Mandatory<Template extends string> =
  Template extends `${infer Before}[${string}]${infer After}`
    ? Mandatory<`${Before}${After}`>
    : Template;

/** Types that a parameter may have. Reasons store it as a string. */
export type ParameterValue = string | number | bigint;

/** Parameters of a template; those only in brackets are optional. */
export type ParametersOf<Template extends string> = {
  [Name in NamesIn<Mandatory<Template>>]: ParameterValue;
} & {
  [Name in NamesIn<Template>]?: ParameterValue | undefined;
};

/** Returns the names of the parameters in a template. Pure. */
export const parametersIn = (template: string): string[] =>
  [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);

/** Reports whether each parameter that the template requires has a value. Pure. */
export const isComplete = (template: string, values: Readonly<Record<string, string>>): boolean =>
  parametersIn(template.replaceAll(/\[[^\]]*\]/g, '')).every((name) => Object.hasOwn(values, name));

/**
 * Returns the sentence of a template. A parameter without a value, as from
 * another version, becomes `?`. Pure.
 */
export function fill(template: string, values: Readonly<Record<string, string>>): string {
  const has = (name: string) => Object.hasOwn(values, name);
  return template
    .replaceAll(/\[([^\]]*)\]/g, (_, part: string) => (parametersIn(part).every(has) ? part : ''))
    .replaceAll(/\{(\w+)\}/g, (_, name: string) => (has(name) ? (values[name] ?? '?') : '?'));
}
