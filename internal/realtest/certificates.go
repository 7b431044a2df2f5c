package realtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// certificates are an authority's of a stack and the one that its servers
// share, good for the loopback address.
type certificates struct {
	// authority and certificate are PEM, as is key.
	authority, certificate, key []byte
	// authorityFile, certificateFile and keyFile hold them.
	authorityFile, certificateFile, keyFile string
}

// newCertificates makes them in a folder.
func newCertificates(dir string) (*certificates, error) {
	root := &x509.Certificate{Subject: pkix.Name{CommonName: "test authority"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign}
	rootKey, rootDER, err := certify(root, root, nil)
	if err != nil {
		return nil, err
	}
	leaf := &x509.Certificate{Subject: pkix.Name{CommonName: "test server"}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, DNSNames: []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	key, der, err := certify(leaf, root, rootKey)
	if err != nil {
		return nil, err
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	c := &certificates{
		authority:     pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: rootDER}),
		certificate:   pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		key:           pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER}),
		authorityFile: filepath.Join(dir, "authority.pem"), certificateFile: filepath.Join(dir, "server.pem"), keyFile: filepath.Join(dir, "server.key"),
	}
	return c, errors.Join(os.WriteFile(c.authorityFile, c.authority, 0o600), os.WriteFile(c.certificateFile, c.certificate, 0o600),
		os.WriteFile(c.keyFile, c.key, 0o600))
}

// certify makes a key and its certificate, signed by the issuer's key or, with
// none, its own.
func certify(of, by *x509.Certificate, signer *ecdsa.PrivateKey) (*ecdsa.PrivateKey, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	if signer == nil {
		signer = key
	}
	if of.SerialNumber, err = rand.Int(rand.Reader, big.NewInt(1<<62)); err != nil {
		return nil, nil, err
	}
	of.NotBefore, of.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(24*time.Hour)
	der, err := x509.CreateCertificate(rand.Reader, of, by, &key.PublicKey, signer)
	return key, der, err
}
