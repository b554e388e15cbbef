/** Tests of who may do what, without a manager. */
package io.tessera.manager.control;
