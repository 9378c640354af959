/** A ref for the current link of a menu that scrolls on a narrow screen. */
export const intoView = (link: Element | null): void => link?.scrollIntoView({ block: "nearest", inline: "center" });
