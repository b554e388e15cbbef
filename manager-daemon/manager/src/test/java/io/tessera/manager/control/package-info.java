/** Tests of permissions, without a manager. */
package io.tessera.manager.control;
