// Csi-directories is a CSI driver for tests: each volume is a directory of the machine, bound to
// where the kubelet wants it. It serves the controller, the node and the registration with the
// kubelet.
package main

import (
	"context"
	"flag"
	"log"
	"net"
	"os"
	"path/filepath"
	"syscall"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
)

type driver struct {
	csi.UnimplementedIdentityServer
	csi.UnimplementedControllerServer
	csi.UnimplementedNodeServer
	registration.UnimplementedRegistrationServer

	name, node, socket, folder string
}

func main() {
	d := &driver{}
	var kubelet string
	flag.StringVar(&d.name, "name", "", "of the driver")
	flag.StringVar(&d.node, "node", "", "name of the Node")
	flag.StringVar(&d.socket, "socket", "", "path of the socket of the driver")
	flag.StringVar(&d.folder, "volumes", "", "folder of the volumes")
	flag.StringVar(&kubelet, "registration", "", "path of the socket in the kubelet's plugins_registry")
	flag.Parse()

	served := grpc.NewServer()
	csi.RegisterIdentityServer(served, d)
	csi.RegisterControllerServer(served, d)
	csi.RegisterNodeServer(served, d)
	registered := grpc.NewServer()
	registration.RegisterRegistrationServer(registered, d)
	ended := make(chan error, 2)
	go func() { ended <- served.Serve(listen(d.socket)) }()
	go func() { ended <- registered.Serve(listen(kubelet)) }()
	log.Print("serving")
	log.Fatal(<-ended)
}

func listen(path string) net.Listener {
	if err := os.RemoveAll(path); err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		log.Fatal(err)
	}
	return listener
}

func (d *driver) GetInfo(context.Context, *registration.InfoRequest) (*registration.PluginInfo, error) {
	return &registration.PluginInfo{
		Type:              registration.CSIPlugin,
		Name:              d.name,
		Endpoint:          d.socket,
		SupportedVersions: []string{"1.0.0"},
	}, nil
}

func (d *driver) NotifyRegistrationStatus(
	_ context.Context, told *registration.RegistrationStatus,
) (*registration.RegistrationStatusResponse, error) {
	log.Printf("registered: %v %s", told.PluginRegistered, told.Error)
	return &registration.RegistrationStatusResponse{}, nil
}

func (d *driver) GetPluginInfo(context.Context, *csi.GetPluginInfoRequest) (*csi.GetPluginInfoResponse, error) {
	return &csi.GetPluginInfoResponse{Name: d.name, VendorVersion: "1.0.0"}, nil
}

func (d *driver) GetPluginCapabilities(
	context.Context, *csi.GetPluginCapabilitiesRequest,
) (*csi.GetPluginCapabilitiesResponse, error) {
	service := &csi.PluginCapability_Service{Type: csi.PluginCapability_Service_CONTROLLER_SERVICE}
	return &csi.GetPluginCapabilitiesResponse{Capabilities: []*csi.PluginCapability{
		{Type: &csi.PluginCapability_Service_{Service: service}},
	}}, nil
}

func (d *driver) Probe(context.Context, *csi.ProbeRequest) (*csi.ProbeResponse, error) {
	return &csi.ProbeResponse{Ready: wrapperspb.Bool(true)}, nil
}

func (d *driver) ControllerGetCapabilities(
	context.Context, *csi.ControllerGetCapabilitiesRequest,
) (*csi.ControllerGetCapabilitiesResponse, error) {
	rpc := &csi.ControllerServiceCapability_RPC{Type: csi.ControllerServiceCapability_RPC_CREATE_DELETE_VOLUME}
	return &csi.ControllerGetCapabilitiesResponse{Capabilities: []*csi.ControllerServiceCapability{
		{Type: &csi.ControllerServiceCapability_Rpc{Rpc: rpc}},
	}}, nil
}

func (d *driver) CreateVolume(
	_ context.Context, asked *csi.CreateVolumeRequest,
) (*csi.CreateVolumeResponse, error) {
	log.Printf("create %s, content %v", asked.Name, asked.VolumeContentSource)
	if asked.VolumeContentSource != nil {
		return nil, status.Error(codes.InvalidArgument, "volumes begin empty")
	}
	if err := os.MkdirAll(filepath.Join(d.folder, filepath.Base(asked.Name)), 0o777); err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	return &csi.CreateVolumeResponse{Volume: &csi.Volume{
		VolumeId:      filepath.Base(asked.Name),
		CapacityBytes: asked.CapacityRange.GetRequiredBytes(),
	}}, nil
}

func (d *driver) DeleteVolume(
	_ context.Context, asked *csi.DeleteVolumeRequest,
) (*csi.DeleteVolumeResponse, error) {
	if err := os.RemoveAll(filepath.Join(d.folder, filepath.Base(asked.VolumeId))); err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	return &csi.DeleteVolumeResponse{}, nil
}

func (d *driver) NodeGetInfo(context.Context, *csi.NodeGetInfoRequest) (*csi.NodeGetInfoResponse, error) {
	return &csi.NodeGetInfoResponse{NodeId: d.node}, nil
}

func (d *driver) NodeGetCapabilities(
	context.Context, *csi.NodeGetCapabilitiesRequest,
) (*csi.NodeGetCapabilitiesResponse, error) {
	return &csi.NodeGetCapabilitiesResponse{}, nil
}

func (d *driver) NodePublishVolume(
	_ context.Context, asked *csi.NodePublishVolumeRequest,
) (*csi.NodePublishVolumeResponse, error) {
	if err := os.MkdirAll(asked.TargetPath, 0o755); err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	_ = syscall.Unmount(asked.TargetPath, 0)
	source := filepath.Join(d.folder, filepath.Base(asked.VolumeId))
	if err := syscall.Mount(source, asked.TargetPath, "", syscall.MS_BIND, ""); err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	return &csi.NodePublishVolumeResponse{}, nil
}

func (d *driver) NodeUnpublishVolume(
	_ context.Context, asked *csi.NodeUnpublishVolumeRequest,
) (*csi.NodeUnpublishVolumeResponse, error) {
	_ = syscall.Unmount(asked.TargetPath, 0)
	if err := os.Remove(asked.TargetPath); err != nil && !os.IsNotExist(err) {
		return nil, status.Error(codes.Internal, err.Error())
	}
	return &csi.NodeUnpublishVolumeResponse{}, nil
}
