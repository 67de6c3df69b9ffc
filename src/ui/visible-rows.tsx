import { useEffect, useState } from 'preact/hooks';
import { type Part, visiblePart } from './table.ts';

/** Height of a row (px), as in page.css. */
const ROW = 36;
/** Rows that are drawn beyond the visible ones. */
const EXTRA = 12;

/** Stands for rows that are not drawn. */
export function Space({ rows }: { rows: number }) {
  if (rows === 0) return null;
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a row without content cannot get the focus
    <tr aria-hidden="true" class="space" style={{ height: `${rows * ROW}px` }}>
      {/* Without colSpan: narrow screens have fewer columns. */}
      <td />
    </tr>
  );
}

/** Returns the rows to draw, which follow the scroll position of the window. */
export function useVisible(body: { current: HTMLElement | null }, count: number): Part {
  const [position, setPosition] = useState({ above: 0, height: window.innerHeight });
  useEffect(() => {
    let frame = 0;
    const measure = () => {
      frame = 0;
      const above = -(body.current?.getBoundingClientRect().top ?? 0);
      setPosition((last) =>
        last.above === above && last.height === window.innerHeight
          ? last
          : { above, height: window.innerHeight },
      );
    };
    const later = () => {
      if (frame === 0) frame = requestAnimationFrame(measure);
    };
    measure();
    addEventListener('scroll', later, { passive: true });
    addEventListener('resize', later, { passive: true });
    return () => {
      cancelAnimationFrame(frame);
      removeEventListener('scroll', later);
      removeEventListener('resize', later);
    };
  }, [body]);
  return visiblePart(count, ROW, position.above, position.height, EXTRA);
}
