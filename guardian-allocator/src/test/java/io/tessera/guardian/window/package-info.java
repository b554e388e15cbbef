/** Tests of windows and where they lie. */
package io.tessera.guardian.window;
