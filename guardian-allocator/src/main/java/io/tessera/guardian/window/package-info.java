/**
 * Windows: which tenant has which range of a GPU's address space. {@link io.tessera.guardian.window.WindowLayout} says
 * how a window is divided, {@link io.tessera.guardian.window.WindowSpace} where windows lie, {@link
 * io.tessera.guardian.window.BoundsEntry} what is known of one. What lies inside a window is decided in {@code
 * io.tessera.guardian.heap}.
 *
 * <p>JDK only. Nothing here reserves or maps anything: addresses are numbers.
 */
package io.tessera.guardian.window;
