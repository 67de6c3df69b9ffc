import type { ComponentChildren } from 'preact';

/** Buttons at the end of a dialog. */
export function ButtonRow({ children }: { children: ComponentChildren }) {
  return <div class="buttons">{children}</div>;
}
