/**
 * The manager: one per host or per user. It admits clients, hands out the turns of every device, keeps the tenants'
 * limits, and answers the control socket. It never loads CUDA.
 */
package io.tessera.manager;
