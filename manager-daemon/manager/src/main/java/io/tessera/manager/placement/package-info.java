/**
 * On which device a program starts that leaves that to the manager ({@code tessera run --device auto}).
 *
 * <p>Pure policy: no clock, no file, no socket, no thread of its own. One rule, one class: a new one implements {@link PlacementRule} and gets
 * a row in {@link DevicePlacement}.
 */
package io.tessera.manager.placement;
