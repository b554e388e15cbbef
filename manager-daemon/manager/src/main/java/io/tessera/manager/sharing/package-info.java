/** Which way of sharing programs get that leave it to the manager. */
package io.tessera.manager.sharing;
