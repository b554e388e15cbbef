/** Puts fences into the code of cubins. Nothing here is trusted: {@code verify} looks at what comes out. Read first: {@code SectionRewriter}. */
package io.tessera.guardian.machine.fence;
