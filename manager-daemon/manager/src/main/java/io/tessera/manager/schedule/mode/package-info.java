/** The modes {@code off}, {@code on} and {@code auto}: whether clients take turns, and why. */
package io.tessera.manager.schedule.mode;
